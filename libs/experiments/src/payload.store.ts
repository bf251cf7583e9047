import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { from, to } from 'pg-copy-streams';
import { v7 as uuid } from 'uuid';
import { COPY_END, COPY_SIGNATURE, copiedFields } from './copy-rows';
import { uuidBytes } from './ids';
import { BLOCK_BYTES } from './upload.blocks';

/** Bytes of a stored chunk: with its head it fills a page of PostgreSQL's (8 KiB) and needs no other place. */
const CHUNK_BYTES = 8000;
const CHUNK_HEAD_BYTES = 34;
/** Blocks that may wait for the database. */
const MOST_WAITING = 4;
/** Bytes after which the database is asked to write its log to the disk, so that little is left for the commit. */
const AHEAD_BYTES = 2 * 1024 * 1024;

/** Chunks that one query reads, 1 MB. */
const CHUNKS_AT_ONCE = 128;

/** Uploaded bodies and what is attached to runs, by tenant and SHA-256 (hex) of their content. */
@Injectable()
export class PayloadStore {
  constructor(private readonly pool: Pool) {}

  /** Begins a payload; nothing of it is seen by others before it is kept. */
  async begin(): Promise<PayloadDraft> {
    const client = await this.pool.connect();
    try {
      await client.query('begin; set local statement_timeout = 0');
      return new PayloadDraft(this.pool, client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Keeps bytes that are in memory. @throws PayloadGone */
  async keep(tenant: string, sha256: string, content: Uint8Array): Promise<void> {
    const draft = await this.begin();
    try {
      for (let at = 0; at < content.length; at += BLOCK_BYTES) {
        const block = content.subarray(at, at + BLOCK_BYTES);
        await draft.write(Buffer.from(block.buffer, block.byteOffset, block.byteLength));
      }
      await draft.keep(tenant, sha256, content.length);
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

  /** The sessions that need a payload. */
  async sessionsOf(tenant: string, sha256: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select session_id as id from payload_sessions where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows.map(({ id }) => id);
  }

  /** As `read`, for readers that may be slow: between the pieces no connection is held. */
  async readUnheld(tenant: string, sha256: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from payloads where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows[0] && this.pieces(rows[0].id);
  }

  private async *pieces(id: string): AsyncIterable<Buffer> {
    for (let from = 0; ; from += CHUNKS_AT_ONCE) {
      const { rows } = await this.pool.query<{ data: Buffer }>(
        'select data from payload_chunks where payload_id = $1 and number >= $2 and number < $3 order by number',
        [id, from, from + CHUNKS_AT_ONCE],
      );
      if (rows.length > 0) yield Buffer.concat(rows.map(({ data }) => data));
      if (rows.length < CHUNKS_AT_ONCE) return;
    }
  }

  /** The payload in pieces, or undefined when there is none. */
  async read(tenant: string, sha256: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from payloads where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    return rows[0] && this.chunks(rows[0].id);
  }

  private async *chunks(id: string): AsyncIterable<Buffer> {
    const client = await this.pool.connect();
    let whole = false;
    try {
      // Without statistics of the table the planner would sort the whole payload on the disk.
      await client.query('set statement_timeout = 0; set enable_sort = off');
      const query = `copy (select data from payload_chunks where payload_id = '${id}' order by number) to stdout (format binary)`;
      yield* copiedFields(client.query(to(query)));
      await client.query('reset statement_timeout; reset enable_sort');
      whole = true;
    } finally {
      client.release(!whole);
    }
  }

  /** Payloads kept before `time` that no session in the read model refers to. */
  async unreferenced(time: Date): Promise<{ id: string; tenant: string; sha256: string }[]> {
    const { rows } = await this.pool.query<{ id: string; tenant: string; sha256: string }>(
      `select id, tenant_id as tenant, sha256 from payloads p where created_at < $1 and not exists (
         select from sessions s where s.tenant_id = p.tenant_id and s.payload_sha256 = p.sha256)
       and not exists (
         select from payload_sessions n join sessions s on s.id = n.session_id
         where n.tenant_id = p.tenant_id and n.sha256 = p.sha256)`,
      [time],
    );
    return rows;
  }

  /** Deletes a payload unless it has been kept again since `time`. */
  async remove(id: string, time: Date): Promise<void> {
    await this.pool.query(
      `with gone as (delete from payloads where id = $1 and created_at < $2 returning id, tenant_id, sha256),
       unneeded as (delete from payload_sessions n using gone g where (n.tenant_id, n.sha256) = (g.tenant_id, g.sha256))
       delete from payload_chunks where payload_id in (select id from gone)`,
      [id, time],
    );
  }
}

/** Memory that is filled again when the database has taken what was in it. */
interface Room {
  readonly bytes: Buffer;
  taken: Promise<void>;
}

/** A payload being written, in a transaction of its own that ends with `keep` or `discard`. */
export class PayloadDraft {
  private readonly id = uuid();
  private readonly idBytes = uuidBytes(this.id);
  private readonly copy: Writable;
  private readonly copied: Promise<void>;
  private readonly rooms: Room[] = [];
  private turn = 0;
  private number = 0;
  private ahead = 0;
  private ended = false;

  constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
  ) {
    this.copy = client.query(from('copy payload_chunks (payload_id, number, data) from stdin (format binary)'));
    this.copied = finished(this.copy);
    // Told by the next write, or by keep.
    this.copied.catch(() => undefined);
    this.copy.write(COPY_SIGNATURE);
  }

  /** Adds a block; waits when the database does not keep up. */
  async write(block: Buffer): Promise<void> {
    if (block.length < BLOCK_BYTES) {
      // Short ones may lie with the socket after the stream has let them go.
      this.copy.write(this.rowsOf(block, Buffer.allocUnsafe(rowsLength(block.length))));
      return;
    }
    const room = (this.rooms[this.turn++ % MOST_WAITING] ??= {
      bytes: Buffer.allocUnsafeSlow(rowsLength(BLOCK_BYTES)),
      taken: Promise.resolve(),
    });
    await Promise.race([this.copied, room.taken]);
    const rows = this.rowsOf(block, room.bytes);
    room.taken = new Promise((resolve) => this.copy.write(rows, () => resolve()));
    this.ahead += rows.length;
    if (this.ahead >= AHEAD_BYTES) this.writeAhead();
  }

  /** Tells that no more bytes come, so that the database can take in the last ones before anything is decided. */
  complete(): void {
    if (!this.copy.writableEnded) this.copy.end(COPY_END);
  }

  /** Makes the payload readable. When the tenant has the same content already, that is kept and this one dropped. */
  async keep(tenant: string, sha256: string, bytes: number): Promise<void> {
    this.complete();
    await this.copied;
    const { rowCount } = await this.client.query(
      `insert into payloads (id, tenant_id, sha256, bytes) values ($1, $2, $3, $4)
       on conflict (tenant_id, sha256) do nothing`,
      [this.id, tenant, sha256, bytes],
    );
    if (rowCount === 1) {
      await this.end('commit');
      return;
    }
    await this.end('rollback');
    const touched = await this.pool.query(
      'update payloads set created_at = now() where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    if (touched.rowCount === 0) throw new PayloadGone();
  }

  /** Forgets the payload; does nothing after `keep`. */
  async discard(): Promise<void> {
    if (this.ended) return;
    if (!this.copy.writableEnded) this.copy.destroy(new Error('The upload was given up.'));
    await this.copied.catch(() => undefined);
    await this.end('rollback').catch(() => undefined);
  }

  /** The rows of a block, written to the beginning of `rows`. */
  private rowsOf(block: Buffer, rows: Buffer): Buffer {
    const id = this.idBytes;
    let at = 0;
    for (let start = 0; start < block.length; start += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, block.length - start);
      at = rows.writeInt16BE(3, at);
      at = rows.writeInt32BE(id.length, at);
      at += id.copy(rows, at);
      at = rows.writeInt32BE(4, at);
      at = rows.writeInt32BE(this.number++, at);
      at = rows.writeInt32BE(length, at);
      at += block.copy(rows, at, start, start + length);
    }
    return rows.subarray(0, at);
  }

  /** A transaction that wrote nothing is not waited for on the disk, but wakes the process that writes the log. */
  private writeAhead(): void {
    this.ahead = 0;
    this.pool.query('select txid_current()').catch(() => undefined);
  }

  private async end(statement: 'commit' | 'rollback'): Promise<void> {
    this.ended = true;
    let broken: Error | undefined;
    try {
      await this.client.query(statement);
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      this.client.release(broken);
    }
  }
}

function rowsLength(bytes: number): number {
  return bytes + Math.ceil(bytes / CHUNK_BYTES) * CHUNK_HEAD_BYTES;
}

/** The payload that was there a moment ago has just been swept; sending it again helps. */
export class PayloadGone extends Error {
  constructor() {
    super('The stored body was removed meanwhile.');
    this.name = 'PayloadGone';
  }
}
