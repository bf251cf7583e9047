import type { Pool, PoolClient } from 'pg';
import { to } from 'pg-copy-streams';
import { copiedFields } from './copy-rows';
import { PayloadDraft } from './payload-draft.store';
import { blocksOf } from './payload-frames';
import { BLOCK_BYTES } from './upload-blocks';

/** Chunks that one query reads, 1 MB as they are stored: it is in memory until the reader has taken it. */
const CHUNKS_AT_ONCE = 128;

/** Uploaded bodies, changes of examples and what is attached, by tenant and SHA-256 (hex) of their content. */
export class PayloadStore {
  constructor(private readonly pool: Pool) {}

  /** Begins a payload; nothing of it is seen by others before it is kept. */
  begin(tenant: string): PayloadDraft {
    return new PayloadDraft(this.pool, tenant);
  }

  async keep(tenant: string, sha256: string, content: Uint8Array): Promise<void> {
    const draft = this.begin(tenant);
    try {
      for (let at = 0; at < content.length; at += BLOCK_BYTES) {
        const block = content.subarray(at, at + BLOCK_BYTES);
        await draft.write(Buffer.from(block.buffer, block.byteOffset, block.byteLength));
      }
      await draft.keep(sha256, content.length);
    } finally {
      await draft.discard();
    }
  }

  /** Notes that sessions need payloads: these stay until the last session is deleted that needs them. */
  async need(tenant: string, needed: readonly { readonly sha256: string; readonly session: string }[]): Promise<void> {
    await this.pool.query(
      `insert into payload_sessions (tenant_id, sha256, session_id)
       select $1, sha256, session from unnest($2::text[], $3::uuid[]) as needed (sha256, session) on conflict do nothing`,
      [tenant, needed.map(({ sha256 }) => sha256), needed.map(({ session }) => session)],
    );
  }

  async needNoMore(tenant: string, sha256: string, session: string): Promise<void> {
    await this.pool.query('delete from payload_sessions where tenant_id = $1 and sha256 = $2 and session_id = $3', [
      tenant,
      sha256,
      session,
    ]);
  }

  /** Notes that a dataset needs payloads: these stay until the last dataset or session is deleted that needs them. */
  async needForDataset(tenant: string, dataset: string, needed: readonly string[]): Promise<void> {
    await this.pool.query(
      `insert into payload_datasets (tenant_id, sha256, dataset_id)
       select distinct $1::uuid, sha256, $2::uuid from unnest($3::text[]) as needed (sha256) on conflict do nothing`,
      [tenant, dataset, needed],
    );
  }

  async datasetsOf(tenant: string, sha256: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select dataset_id as id from payload_datasets where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows.map(({ id }) => id);
  }

  async sessionsOf(tenant: string, sha256: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select session_id as id from payload_sessions where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows.map(({ id }) => id);
  }

  /** The payload in pieces, or undefined when there is none. Between the pieces no connection is held. */
  async read(tenant: string, sha256: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { rows } = await this.pool.query<{ id: string; framed: boolean }>(
      'select id, framed from payloads where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows[0] && contents(this.pieces(tenant, rows[0].id), rows[0].framed);
  }

  async find(tenant: string, sha256: string): Promise<{ readonly id: string; readonly kept: Date } | undefined> {
    const { rows } = await this.pool.query<{ id: string; kept: Date }>(
      'select id, created_at as kept from payloads where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows[0];
  }

  private async *pieces(tenant: string, id: string): AsyncIterable<Buffer> {
    for (let first = 0; ; first += CHUNKS_AT_ONCE) {
      const parts = await this.piece(tenant, id, first);
      if (parts.length === 0) return;
      yield* parts;
    }
  }

  /** The bytes of the chunks from `first` on, as many as are read at once. */
  private async piece(tenant: string, id: string, first: number): Promise<Buffer[]> {
    const client = await this.pool.connect();
    let whole = false;
    try {
      const query = `copy (select data from payload_chunks where payload_id = '${id}' and number >= ${first}
        and number < ${first + CHUNKS_AT_ONCE} and (tenant_id = '${tenant}' or tenant_id is null)
        order by number) to stdout (format binary)`;
      const parts: Buffer[] = [];
      for await (const part of copiedFields(client.query(to(query)))) parts.push(part);
      whole = true;
      return parts;
    } finally {
      client.release(!whole);
    }
  }

  /** Payloads, of one tenant or of all, kept before `time` that no session and no dataset in the read model refers to. */
  async unreferenced(time: Date, tenant?: string): Promise<{ id: string; tenant: string; sha256: string }[]> {
    const { rows } = await this.pool.query<{ id: string; tenant: string; sha256: string }>(
      `select id, tenant_id as tenant, sha256 from payloads p where created_at < $1 and ($2::uuid is null or tenant_id = $2) and not exists (
         select from sessions s where s.tenant_id = p.tenant_id and s.payload_sha256 = p.sha256)
       and not exists (
         select from payload_sessions n join sessions s on s.id = n.session_id and s.tenant_id = n.tenant_id
         where n.tenant_id = p.tenant_id and n.sha256 = p.sha256)
       and not exists (
         select from payload_datasets n join datasets d on d.id = n.dataset_id and d.tenant_id = n.tenant_id
         where n.tenant_id = p.tenant_id and n.sha256 = p.sha256)`,
      [time, tenant],
    );
    return rows;
  }

  /** Deletes a payload unless it has been kept again since `time`. */
  async remove(tenant: string, id: string, time: Date): Promise<void> {
    await this.pool.query(
      `with gone as (
         delete from payloads where tenant_id = $3 and id = $1 and created_at < $2 returning id, sha256),
       unneeded as (delete from payload_sessions n using gone g where n.tenant_id = $3 and n.sha256 = g.sha256),
       unneeded_by_datasets as (delete from payload_datasets n using gone g where n.tenant_id = $3 and n.sha256 = g.sha256)
       delete from payload_chunks
       where payload_id in (select id from gone) and (tenant_id = $3 or tenant_id is null)`,
      [id, time, tenant],
    );
  }

  /** Deletes what was written until `time` of payloads that came slowly, were never kept and go on no more. */
  async removeDrafts(time: Date): Promise<void> {
    await this.pool.query(
      `with gone as (delete from payload_drafts where touched_at < $1 returning id)
       delete from payload_chunks where payload_id in (select id from gone)`,
      [time],
    );
  }
}

export async function readWithin(tx: PoolClient, tenant: string | null, sha256: string): Promise<Buffer | undefined> {
  const { rows } = await tx.query<{ data: Buffer; framed: boolean }>(
    `select c.data, p.framed from payloads p
       join payload_chunks c on c.payload_id = p.id and (c.tenant_id = $1 or c.tenant_id is null)
     where p.tenant_id = $1 and p.sha256 = $2 order by c.number`,
    [tenant, sha256],
  );
  if (rows.length === 0) return undefined;
  const chunks = rows.map(({ data }) => data);
  const parts: Buffer[] = [];
  for await (const part of contents(chunks, rows[0]!.framed)) parts.push(part);
  return Buffer.concat(parts);
}

async function* contents(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, framed: boolean): AsyncGenerator<Buffer> {
  yield* framed ? blocksOf(chunks) : chunks;
}
