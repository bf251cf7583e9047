import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Place } from './verdict-reports.store';

/** Time for which one process alone writes a comment (ms): more than it may take. */
const HELD_MS = 60_000;

/** The comment on a pull request, which its holder alone writes for a while. */
export interface HeldComment extends Place {
  readonly pull: number;
  readonly holder: string;
  /** Cannot be guessed, so that nobody else can have written it before. */
  readonly marker: string;
  /** Identifier at the host; null before it is known. */
  readonly comment_id: string | null;
  readonly body_hash: string | null;
  /** Attempts to post it whose outcome is not known. */
  readonly posting: number;
}

type Row = Pick<HeldComment, 'marker' | 'comment_id' | 'body_hash' | 'posting'>;

const ONE = 'tenant_id = $1 and integration_id = $2 and repository = $3 and pull = $4';

function keyOf({ tenantId, integrationId, repository, pull }: Place & { readonly pull: number }) {
  return [tenantId, integrationId, repository, pull];
}

/** Comments on pull requests. What is about to be posted is stored before, so that it is found again after a crash. */
@Injectable()
export class PullCommentsStore {
  constructor(private readonly pool: Pool) {}

  /** Returns the comment for its holder; undefined while another one holds it. */
  async hold(place: Place, pull: number): Promise<HeldComment | undefined> {
    const key = keyOf({ ...place, pull });
    await this.pool.query(
      `insert into verdict_comments (tenant_id, integration_id, repository, pull, marker) values ($1, $2, $3, $4, $5)
       on conflict (tenant_id, integration_id, repository, pull) do nothing`,
      [...key, randomUUID()],
    );
    const holder = randomUUID();
    const { rows } = await this.pool.query<Row>(
      `update verdict_comments set holder = $5, held_until = now() + $6 * interval '1 millisecond'
       where ${ONE} and (held_until is null or held_until < now())
       returning marker, comment_id, body_hash, posting`,
      [...key, holder, HELD_MS],
    );
    return rows[0] && { ...place, pull, holder, ...rows[0] };
  }

  async release(comment: HeldComment): Promise<void> {
    await this.pool.query(`update verdict_comments set holder = null, held_until = null where ${ONE} and holder = $5`, [
      ...keyOf(comment),
      comment.holder,
    ]);
  }

  /** Notes that a comment is about to be posted. */
  async begin(comment: HeldComment): Promise<void> {
    await this.pool.query(`update verdict_comments set posting = posting + 1 where ${ONE}`, [...keyOf(comment)]);
  }

  /** Notes which comment was posted; false when another process holds it by now. */
  async posted(comment: HeldComment, id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update verdict_comments set comment_id = $6, posting = greatest(posting - 1, 0) where ${ONE} and holder = $5`,
      [...keyOf(comment), comment.holder, id],
    );
    return rowCount === 1;
  }

  /** Notes which comment was found at the host: nothing is in doubt any more. */
  async found(comment: HeldComment, id: string): Promise<void> {
    await this.pool.query(`update verdict_comments set comment_id = $6, posting = 0 where ${ONE} and holder = $5`, [
      ...keyOf(comment),
      comment.holder,
      id,
    ]);
  }

  /** Forgets a comment that somebody has deleted: the next one is another. */
  async renew(comment: HeldComment): Promise<HeldComment> {
    const marker = randomUUID();
    await this.pool.query(
      `update verdict_comments set marker = $6, comment_id = null, body_hash = null, posting = 0
       where ${ONE} and holder = $5`,
      [...keyOf(comment), comment.holder, marker],
    );
    return { ...comment, marker, comment_id: null, body_hash: null, posting: 0 };
  }

  /** Notes the text that the comment has. */
  async wrote(comment: HeldComment, hash: string): Promise<void> {
    await this.pool.query(
      `update verdict_comments set body_hash = $6, updated_at = now() where ${ONE} and holder = $5`,
      [...keyOf(comment), comment.holder, hash],
    );
  }
}
