import { randomUUID } from 'node:crypto';
import { EventStore, Followers, handle, type Metadata, Room, type Sealed, streamName, Vault } from '@fairlead/eventing';
import { BadRequest, HttpProblem } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { v5 as idFrom } from 'uuid';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';
import { isoTime } from '../common/sql';
import { share, type ShareKind, shareModel, unshare } from './share';

/** Time for which sharing, and its end, wait until they have taken effect (ms). */
const VIEW_MS = 10_000;
/** Things that one workspace may share at a time. */
const MOST_SHARES = 10_000;
const DIGESTS = 'share-tokens';

/** The thing that a token lets its holder read. */
export interface Shared {
  readonly tenant: string;
  readonly id: string;
}

export interface SharedRun extends Shared {
  readonly session: string;
  /** Id of the root of its trace, which may be itself. */
  readonly trace: string;
}

/** Subject of the sealed tokens of a workspace. */
export const sealsOf = (tenantId: string) => `shares-${tenantId}`;

/** Makes runs and datasets readable for whoever has a token, and recognises tokens. */
@Injectable()
export class Shares {
  private readonly room = new Room(MOST_SHARES);

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly pool: Pool,
    private readonly vault: Vault,
  ) {}

  /**
   * Shares a run of the workspace and answers its token, or undefined when there is no such run. The token of what is
   * shared already stays the same. @throws BadRequest when the workspace shares too much
   */
  async shareRun(tenantId: string, id: string, metadata: Metadata): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ session: string; created: string }>(
      `select s.id as session, ${isoTime('s.created_at')} as created from runs r join sessions s on s.id = r.session_id
       where r.id = $1 and r.tenant_id = $2`,
      [id, tenantId],
    );
    return rows[0] && this.share('run', tenantId, id, rows[0].session, rows[0].created, metadata);
  }

  /** As `shareRun`, for a dataset. */
  async shareDataset(tenantId: string, id: string, metadata: Metadata): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ created: string }>(
      `select ${isoTime('created_at')} as created from datasets where id = $1 and tenant_id = $2`,
      [id, tenantId],
    );
    return rows[0] && this.share('dataset', tenantId, id, null, rows[0].created, metadata);
  }

  /** Tokens by the ids of what is shared of these. */
  async tokens(tenantId: string, kind: ShareKind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.pool.query<{ id: string; subject: string; token: Sealed }>(
      `select id, subject_id as subject, token from shares
       where tenant_id = $1 and kind = $2 and subject_id = any($3::uuid[])`,
      [tenantId, kind, ids],
    );
    const opened = rows.map(async ({ id, subject, token }) => [subject, await this.open(tenantId, id, token)] as const);
    return new Map(await Promise.all(opened));
  }

  /** Ends the sharing of a run or a dataset: its token gives nothing when this resolves. */
  async unshare(kind: ShareKind, tenantId: string, id: string, metadata: Metadata): Promise<void> {
    const stream = streamName('share', shareId(kind, tenantId, id));
    const { position } = await handle(this.store, shareModel, stream, unshare(kind, id), metadata);
    await this.effective(position);
  }

  /** The run that a token gives to read, undefined when it gives none. */
  async runOf(token: string): Promise<SharedRun | undefined> {
    const { rows } = await this.pool.query<SharedRun>(
      `select h.tenant_id as tenant, r.id, s.id as session, coalesce(r.trace_id, r.id) as trace
       from shares h join sessions s on s.id = h.session_id and s.tenant_id = h.tenant_id
         join runs r on r.id = h.subject_id and r.session_id = s.id and r.tenant_id = h.tenant_id
       where h.digest = $1 and h.kind = 'run' and h.shared_at >= s.created_at`,
      [await this.vault.digest(DIGESTS, token)],
    );
    return rows[0];
  }

  /** The dataset that a token gives to read, undefined when it gives none. */
  async datasetOf(token: string): Promise<Shared | undefined> {
    const { rows } = await this.pool.query<Shared>(
      `select h.tenant_id as tenant, d.id from shares h join datasets d on d.id = h.subject_id and d.tenant_id = h.tenant_id
       where h.digest = $1 and h.kind = 'dataset' and h.shared_at >= d.created_at`,
      [await this.vault.digest(DIGESTS, token)],
    );
    return rows[0];
  }

  private async share(
    kind: ShareKind,
    tenantId: string,
    id: string,
    session: string | null,
    created: string,
    metadata: Metadata,
  ): Promise<string> {
    const known = (await this.tokens(tenantId, kind, [id])).get(id);
    const leave = known === undefined ? await this.takeRoom(tenantId) : undefined;
    try {
      return await this.record(kind, tenantId, id, session, created, metadata);
    } finally {
      leave?.();
    }
  }

  private async record(
    kind: ShareKind,
    tenantId: string,
    id: string,
    session: string | null,
    created: string,
    metadata: Metadata,
  ): Promise<string> {
    const own = shareId(kind, tenantId, id);
    const token = randomUUID();
    const sealed = await this.vault.seal(tenantId, sealsOf(tenantId), own, token);
    const data = { id, session_id: session, token: sealed, digest: await this.vault.digest(DIGESTS, token) };
    const decide = share(kind, data, created);
    const { state, position } = await handle(this.store, shareModel, streamName('share', own), decide, metadata);
    await this.effective(position);
    return this.open(tenantId, own, state!.token);
  }

  /** @throws BadRequest when the workspace shares too much */
  private async takeRoom(tenantId: string): Promise<() => void> {
    const text = 'select count(*)::int as count from shares where tenant_id = $1';
    const count = async () => (await this.pool.query<{ count: number }>(text, [tenantId])).rows[0]!.count;
    const leave = await this.room.take(tenantId, 1, count);
    if (leave) return leave;
    throw new BadRequest(`A workspace shares ${MOST_SHARES.toLocaleString('en')} runs and datasets at most.`);
  }

  private open(tenantId: string, id: string, token: Sealed): Promise<string> {
    return this.vault.open(tenantId, sealsOf(tenantId), id, token);
  }

  /** @throws HttpProblem 503 when what was written does not count in time */
  private async effective(position: bigint): Promise<void> {
    if (await this.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS)) return;
    throw new HttpProblem(503, 'The change is stored and has not taken effect yet, try again.', {
      headers: { 'retry-after': '1' },
    });
  }
}

function shareId(kind: ShareKind, tenantId: string, id: string): string {
  return idFrom(`${kind}/${id}`, tenantId);
}
