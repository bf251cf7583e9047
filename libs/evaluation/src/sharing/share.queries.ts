import { type Sealed, Vault } from '@fairlead/eventing';
import { NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { isoTime } from '@fairlead/runs';
import type { Hideable, ShareLink } from './share';

export const DIGESTS = { lasting: 'share-tokens', ending: 'share-link-tokens' };

export const sealsOf = (tenantId: string) => `shares-${tenantId}`;

export interface Shared {
  readonly tenant: string;
  readonly id: string;
}

export interface SharedRun extends Shared {
  readonly session: string;
  /** Id of the root of its trace, which may be itself. */
  readonly trace: string;
}

export interface ListedLink extends Omit<ShareLink, 'digest'> {
  readonly created_at: string;
}

export interface OpenLink extends ListedLink {
  readonly tenant: string;
  readonly hides: ReadonlySet<Hideable>;
}

const LISTED = `l.id, l.kind, l.dataset_id, l.experiments, l.run_id, l.hidden, ${isoTime('l.created_at')} as created_at,
  ${isoTime('l.expires_at')} as expires_at`;

/** Statements for the session of a thing that can be shared, and the time since when it has been there. */
const SUBJECTS = {
  run: `select s.id as session, ${isoTime('s.created_at')} as created from runs r join sessions s on s.id = r.session_id
    where r.id = $1 and r.tenant_id = $2 and s.tenant_id = $2`,
  dataset: `select null as session, ${isoTime('created_at')} as created from datasets where id = $1 and tenant_id = $2`,
};

@Injectable()
export class ShareQueries {
  constructor(
    private readonly pool: Pool,
    private readonly vault: Vault,
  ) {}

  /** Returns the session of a thing that can be shared, and since when that is there; undefined without such a thing. */
  async subject(tenantId: string, kind: 'run' | 'dataset', id: string) {
    const { rows } = await this.pool.query<{ session: string | null; created: string }>(SUBJECTS[kind], [id, tenantId]);
    return rows[0];
  }

  async tokens(
    tenantId: string,
    kind: 'run' | 'dataset',
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.pool.query<{ id: string; subject: string; token: Sealed }>(
      `select id, subject_id as subject, token from shares
       where tenant_id = $1 and kind = $2 and subject_id = any($3::uuid[])`,
      [tenantId, kind, ids],
    );
    const opened = rows.map(
      async ({ id, subject, token }) =>
        [subject, await this.vault.open(tenantId, sealsOf(tenantId), id, token)] as const,
    );
    return new Map(await Promise.all(opened));
  }

  async runOf(token: string): Promise<SharedRun | undefined> {
    const { rows } = await this.pool.query<SharedRun>(
      `select h.tenant_id as tenant, r.id, s.id as session, coalesce(r.trace_id, r.id) as trace
       from shares h join sessions s on s.id = h.session_id and s.tenant_id = h.tenant_id
         join runs r on r.id = h.subject_id and r.session_id = s.id and r.tenant_id = h.tenant_id
       where h.digest = $1 and h.kind = 'run' and h.shared_at >= s.created_at`,
      [await this.vault.digest(DIGESTS.lasting, token)],
    );
    return rows[0];
  }

  async datasetOf(token: string): Promise<Shared | undefined> {
    const { rows } = await this.pool.query<Shared>(
      `select h.tenant_id as tenant, d.id from shares h join datasets d on d.id = h.subject_id and d.tenant_id = h.tenant_id
       where h.digest = $1 and h.kind = 'dataset' and h.shared_at >= d.created_at`,
      [await this.vault.digest(DIGESTS.lasting, token)],
    );
    return rows[0];
  }

  /**
   * The link of a token, undefined when it gives nothing to read. A thing that has been deleted and made again under
   * the same id is another thing.
   */
  async linkOf(token: string): Promise<OpenLink | undefined> {
    const { rows } = await this.pool.query<Omit<OpenLink, 'hides'>>(
      `select l.tenant_id as tenant, ${LISTED} from share_links l
       where l.digest = $1 and l.expires_at > now()
         and cardinality(l.experiments) = (
           select count(*) from sessions s
           where s.id = any(l.experiments) and s.tenant_id = l.tenant_id and s.created_at <= l.created_at)
         and (l.dataset_id is null or exists (
           select from datasets d
           where d.id = l.dataset_id and d.tenant_id = l.tenant_id and d.created_at <= l.created_at))`,
      [await this.vault.digest(DIGESTS.ending, token)],
    );
    return rows[0] && { ...rows[0], hides: new Set(rows[0].hidden) };
  }

  async links(tenantId: string, { limit, offset }: { limit: number; offset: number }): Promise<ListedLink[]> {
    const { rows } = await this.pool.query<ListedLink>(
      `select ${LISTED} from share_links l where l.tenant_id = $1 and l.expires_at > now()
       order by l.created_at desc, l.id desc limit $2 offset $3`,
      [tenantId, limit, offset],
    );
    return rows;
  }

  /** @throws NotFound */
  async link(tenantId: string, id: string): Promise<ListedLink> {
    const text = `select ${LISTED} from share_links l where l.id = $1 and l.tenant_id = $2`;
    const { rows } = await this.pool.query<ListedLink>(text, [id, tenantId]);
    if (!rows[0]) throw new NotFound(`Share ID ${id} not found.`);
    return rows[0];
  }
}
