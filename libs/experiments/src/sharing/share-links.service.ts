import { randomUUID } from 'node:crypto';
import { EventStore, Followers, handle, newId, Room, streamName, Vault } from '@fairlead/eventing';
import type { CommandContext } from '@fairlead/api';
import { BadRequest, HttpProblem, NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';
import { isoTime } from '../common/sql';
import { createLink, deleteLink, type Hideable, type ShareLink, shareLinkModel } from './share-link';

/** Time for which a new link, and its end, wait until they have taken effect (ms). */
const VIEW_MS = 10_000;
/** Links of one workspace that have not expired. */
const MOST_LINKS = 1000;
const DIGESTS = 'share-link-tokens';

/** A link as it is asked for. */
type NewLink = Pick<ShareLink, 'kind' | 'dataset_id' | 'experiments' | 'run_id' | 'hidden' | 'expires_at'>;

export interface ListedLink extends Omit<ShareLink, 'digest'> {
  readonly created_at: string;
}

/** The things that the token of a link lets its holder read. */
export interface OpenLink extends ListedLink {
  readonly tenant: string;
  readonly hides: ReadonlySet<Hideable>;
}

const LISTED = `l.id, l.kind, l.dataset_id, l.experiments, l.run_id, l.hidden, ${isoTime('l.created_at')} as created_at,
  ${isoTime('l.expires_at')} as expires_at`;

/** Makes links to comparisons and runs, and recognises their tokens. */
@Injectable()
export class ShareLinks {
  private readonly room = new Room(MOST_LINKS);

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly pool: Pool,
    private readonly vault: Vault,
  ) {}

  /**
   * Makes a link; the token is answered here only.
   * @throws NotFound for what the workspace does not have, BadRequest for what cannot be compared or too many links
   */
  async create({ tenantId, metadata }: CommandContext, asked: NewLink): Promise<ListedLink & { token: string }> {
    const experiments =
      asked.run_id === null ? await this.compared(tenantId, asked) : [await this.sessionOf(tenantId, asked.run_id)];
    const text = 'select count(*)::int as count from share_links where tenant_id = $1 and expires_at > now()';
    const count = async () => (await this.pool.query<{ count: number }>(text, [tenantId])).rows[0]!.count;
    const leave = await this.room.take(tenantId, 1, count);
    if (!leave) throw new BadRequest(`A workspace has ${MOST_LINKS.toLocaleString('en')} links at most.`);
    try {
      const [id, token] = [newId(), randomUUID()];
      const link = { ...asked, id, experiments, digest: await this.vault.digest(DIGESTS, token) };
      const stream = streamName('shareLink', id);
      const { position } = await handle(this.store, shareLinkModel, stream, createLink(link), metadata);
      await this.effective(position);
      return { ...(await this.one(tenantId, id)), token };
    } finally {
      leave();
    }
  }

  /** Links that have not expired, the newest first. */
  async list(tenantId: string, { limit, offset }: { limit: number; offset: number }): Promise<ListedLink[]> {
    const { rows } = await this.pool.query<ListedLink>(
      `select ${LISTED} from share_links l where l.tenant_id = $1 and l.expires_at > now()
       order by l.created_at desc, l.id desc limit $2 offset $3`,
      [tenantId, limit, offset],
    );
    return rows;
  }

  /** Ends a link: its token gives nothing when this resolves. @throws NotFound */
  async delete({ tenantId, metadata }: CommandContext, id: string): Promise<void> {
    await this.one(tenantId, id);
    const stream = streamName('shareLink', id);
    const { position } = await handle(this.store, shareLinkModel, stream, deleteLink(id), metadata);
    await this.effective(position);
  }

  /**
   * The link of a token, undefined when it gives nothing to read. A thing that has been deleted and made again under
   * the same id is another thing.
   */
  async open(token: string): Promise<OpenLink | undefined> {
    const { rows } = await this.pool.query<Omit<OpenLink, 'hides'>>(
      `select l.tenant_id as tenant, ${LISTED} from share_links l
       where l.digest = $1 and l.expires_at > now()
         and cardinality(l.experiments) = (
           select count(*) from sessions s
           where s.id = any(l.experiments) and s.tenant_id = l.tenant_id and s.created_at <= l.created_at)
         and (l.dataset_id is null or exists (
           select from datasets d
           where d.id = l.dataset_id and d.tenant_id = l.tenant_id and d.created_at <= l.created_at))`,
      [await this.vault.digest(DIGESTS, token)],
    );
    return rows[0] && { ...rows[0], hides: new Set(rows[0].hidden) };
  }

  private async one(tenantId: string, id: string): Promise<ListedLink> {
    const text = `select ${LISTED} from share_links l where l.id = $1 and l.tenant_id = $2`;
    const { rows } = await this.pool.query<ListedLink>(text, [id, tenantId]);
    if (!rows[0]) throw new NotFound(`Share ID ${id} not found.`);
    return rows[0];
  }

  private async compared(tenantId: string, { dataset_id, experiments }: NewLink): Promise<readonly string[]> {
    const ids = [...new Set(experiments)];
    const { rows } = await this.pool.query<{ id: string; dataset: string | null }>(
      'select id, reference_dataset_id as dataset from sessions where tenant_id = $1 and id = any($2::uuid[])',
      [tenantId, ids],
    );
    for (const id of ids) {
      const found = rows.find((row) => row.id === id);
      if (!found) throw new NotFound(`Session ID ${id} not found.`);
      if (found.dataset !== dataset_id) {
        throw new BadRequest(`Session ${id} is no experiment on dataset ${dataset_id}.`);
      }
    }
    return ids;
  }

  private async sessionOf(tenantId: string, run: string): Promise<string> {
    const text = 'select session_id as id from runs where id = $1 and tenant_id = $2';
    const { rows } = await this.pool.query<{ id: string }>(text, [run, tenantId]);
    if (!rows[0]) throw new NotFound(`Run ID ${run} not found.`);
    return rows[0].id;
  }

  /** @throws HttpProblem 503 when what was written does not count in time */
  private async effective(position: bigint): Promise<void> {
    if (await this.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS)) return;
    throw new HttpProblem(503, 'The change is stored and has not taken effect yet, try again.', {
      headers: { 'retry-after': '1' },
    });
  }
}
