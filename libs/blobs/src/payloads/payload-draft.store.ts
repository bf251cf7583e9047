import type { Pool, PoolClient } from 'pg';
import { v7 as uuid } from 'uuid';
import { uuidBytes } from './uuid-bytes';
import { PayloadGone } from './payload.errors';
import { frameOf } from './payload-frames';
import { PayloadPart } from './payload-part.store';

/** Bytes of a stored chunk: with its head it fills a page of PostgreSQL's (8 KiB) and needs no other place. */
const CHUNK_BYTES = 8000;
const CHUNK_HEAD_BYTES = 54;
/** Blocks that may wait for the database. */
const MOST_WAITING = 4;
/** Milliseconds without a block after which what was written is committed and the connection is given back. */
const PAUSE_MS = 50;

/**
 * A payload being written, until `keep` or `discard`. While blocks come quickly it is one transaction; whenever they
 * pause, what came so far is committed, so that a slow client holds no connection. Only `keep` makes it readable.
 */
export class PayloadDraft {
  private readonly id = uuid();
  private readonly idBytes = uuidBytes(this.id);
  private readonly tenantBytes: Buffer;
  private readonly taken: Promise<void>[] = [];
  /** Bytes that do not fill a chunk yet. */
  private rest: Buffer = Buffer.alloc(0);
  private part?: PayloadPart;
  /** A part was committed before. */
  private noted = false;
  private resting: Promise<void> = Promise.resolve();
  private timer?: NodeJS.Timeout;
  private turn = 0;
  private number = 0;
  private ended = false;

  constructor(
    private readonly pool: Pool,
    private readonly tenant: string,
  ) {
    this.tenantBytes = uuidBytes(tenant);
  }

  /** Adds a block; waits when the database does not keep up. @throws PayloadGone */
  async write(block: Buffer): Promise<void> {
    clearTimeout(this.timer);
    await this.resting;
    const part = (this.part ??= await PayloadPart.open(this.pool));
    const frame = await frameOf(block);
    const turn = this.turn++ % MOST_WAITING;
    await Promise.race([part.copied, this.taken[turn]]);
    const rows = this.rowsOf(frame);
    if (rows.length > 0) this.taken[turn] = part.write(rows);
    this.timer = setTimeout(() => this.pause(), PAUSE_MS);
  }

  /** Tells that no more bytes come, so that the database can take in the last ones before anything is decided. */
  complete(): void {
    clearTimeout(this.timer);
    if (this.part) this.flush(this.part);
    this.part?.complete();
  }

  /**
   * Makes the payload readable. When the tenant has the same content already, that is kept and this one dropped.
   * @throws PayloadGone
   */
  async keep(sha256: string, bytes: number): Promise<void> {
    const { tenant } = this;
    clearTimeout(this.timer);
    await this.resting;
    const part = this.part ?? (await PayloadPart.open(this.pool));
    this.part = undefined;
    this.flush(part);
    const isNew = await part.end(async (client) => {
      const { rowCount } = await client.query(
        `insert into payloads (id, tenant_id, sha256, bytes, framed) values ($1, $2, $3, $4, true)
         on conflict (tenant_id, sha256) do nothing`,
        [this.id, tenant, sha256, bytes],
      );
      if (rowCount !== 1) return false;
      if (this.noted) await required(client, 'delete from payload_drafts where id = $1', this.id);
      return true;
    });
    if (!isNew) await this.forget();
    this.ended = true;
    if (isNew) return;
    const touched = await this.pool.query(
      'update payloads set created_at = now() where tenant_id = $1 and sha256 = $2',
      [tenant, sha256],
    );
    if (touched.rowCount === 0) throw new PayloadGone();
  }

  async discard(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timer);
    await this.resting.catch(() => undefined);
    await this.part?.giveUp();
    this.part = undefined;
    // Otherwise it is swept in an hour.
    await this.forget().catch(() => undefined);
  }

  /** Commits what came so far. When that fails, the next call tells. */
  private pause(): void {
    const part = this.part!;
    this.part = undefined;
    this.flush(part);
    const committed = part.end(async (client) => {
      if (this.noted)
        await required(client, 'update payload_drafts set touched_at = clock_timestamp() where id = $1', this.id);
      else await client.query('insert into payload_drafts (id) values ($1)', [this.id]);
      return true;
    });
    this.resting = committed.then(() => {
      this.noted = true;
    });
    this.resting.catch(() => undefined);
  }

  private async forget(): Promise<void> {
    if (!this.noted) return;
    await this.pool.query(
      `with gone as (delete from payload_drafts where id = $1)
       delete from payload_chunks where payload_id = $1 and tenant_id = $2`,
      [this.id, this.tenant],
    );
  }

  private flush(part: PayloadPart): void {
    if (this.rest.length > 0) void part.write(this.rowsOf([], 1));
  }

  /** The rows of the chunks of at least so many bytes that come to be with further ones; the others wait for more. */
  private rowsOf(further: readonly Buffer[], least = CHUNK_BYTES): Buffer {
    const bytes = Buffer.concat([this.rest, ...further]);
    const rows = Buffer.allocUnsafe(rowsLength(bytes.length));
    const { idBytes: id, tenantBytes: tenant } = this;
    let at = 0;
    let start = 0;
    for (; bytes.length - start >= least; start += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, bytes.length - start);
      at = rows.writeInt16BE(4, at);
      at = rows.writeInt32BE(id.length, at);
      at += id.copy(rows, at);
      at = rows.writeInt32BE(4, at);
      at = rows.writeInt32BE(this.number++, at);
      at = rows.writeInt32BE(length, at);
      at += bytes.copy(rows, at, start, start + length);
      at = rows.writeInt32BE(tenant.length, at);
      at += tenant.copy(rows, at);
    }
    this.rest = Buffer.from(bytes.subarray(start));
    return rows.subarray(0, at);
  }
}

/** Runs a statement that has to find the draft. @throws PayloadGone when it has been swept */
async function required(client: PoolClient, statement: string, id: string): Promise<void> {
  if ((await client.query(statement, [id])).rowCount !== 1) throw new PayloadGone();
}

function rowsLength(bytes: number): number {
  return bytes + Math.ceil(bytes / CHUNK_BYTES) * CHUNK_HEAD_BYTES;
}
