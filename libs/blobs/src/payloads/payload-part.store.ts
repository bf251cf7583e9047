import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Pool, PoolClient } from 'pg';
import { from } from 'pg-copy-streams';
import { COPY_END, COPY_SIGNATURE } from './copy-rows';

/** Bytes after which the database is asked to write its log to the disk, so that little is left for the commit. */
const AHEAD_BYTES = 2 * 1024 * 1024;

/** Chunks of a payload that are copied to the database in one transaction, which has a connection until its end. */
export class PayloadPart {
  /** Settles when the database has taken all of it. */
  readonly copied: Promise<void>;
  private readonly copy: Writable;
  private ahead = 0;

  private constructor(
    private readonly pool: Pool,
    private readonly client: PoolClient,
  ) {
    this.copy = client.query(
      from('copy payload_chunks (payload_id, number, data, tenant_id) from stdin (format binary)'),
    );
    this.copied = finished(this.copy);
    // Told by the next write, or by the end.
    this.copied.catch(() => undefined);
    this.copy.write(COPY_SIGNATURE);
  }

  static async open(pool: Pool): Promise<PayloadPart> {
    const client = await pool.connect();
    try {
      await client.query('begin; set local statement_timeout = 0');
      return new PayloadPart(pool, client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Resolves when the memory of the rows may be used again. */
  write(rows: Buffer): Promise<void> {
    this.ahead += rows.length;
    if (this.ahead >= AHEAD_BYTES) this.writeAhead();
    return new Promise((resolve) => this.copy.write(rows, () => resolve()));
  }

  /** Tells that no more rows come. */
  complete(): void {
    if (!this.copy.writableEnded) this.copy.end(COPY_END);
  }

  /** Does `work` in the same transaction and commits it when that answers true; answers what it did. */
  async end(work: (client: PoolClient) => Promise<boolean>): Promise<boolean> {
    let broken: Error | undefined;
    try {
      this.complete();
      await this.copied;
      const isRight = await work(this.client);
      await this.client.query(isRight ? 'commit' : 'rollback');
      return isRight;
    } catch (error) {
      await this.client.query('rollback').catch((lost: Error) => (broken = lost));
      throw error;
    } finally {
      this.client.release(broken);
    }
  }

  /** Ends it without a trace. */
  async giveUp(): Promise<void> {
    if (!this.copy.writableEnded) this.copy.destroy(new Error('The upload was given up.'));
    await this.copied.catch(() => undefined);
    const broken = await this.client.query('rollback').then(
      () => undefined,
      (error: Error) => error,
    );
    this.client.release(broken);
  }

  /** A transaction that wrote nothing is not waited for on the disk, but wakes the process that writes the log. */
  private writeAhead(): void {
    this.ahead = 0;
    this.pool.query('select txid_current()').catch(() => undefined);
  }
}
