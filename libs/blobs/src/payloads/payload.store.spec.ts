import { createHash, randomBytes } from 'node:crypto';
import { eventingMigrations } from '@fairlead/eventing';
import { experimentsMigrations } from '@fairlead/experiments';
import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { v4 as uuid } from 'uuid';
import { PayloadGone } from './payload.errors';
import { PayloadStore, readWithin } from './payload.store';
import { BLOCK_BYTES } from './upload-blocks';

describe('a payload being written', () => {
  let database: TestDatabase;
  let payloads: PayloadStore;
  const tenant = uuid();
  beforeAll(async () => {
    database = await testDatabase([...eventingMigrations, ...experimentsMigrations]);
    payloads = new PayloadStore(database.pool);
  });
  afterAll(() => database.drop());

  const chunks = async () => (await database.pool.query('select count(*)::int as n from payload_chunks')).rows[0].n;
  /** More than wait for the database at a time, and a short one, all different; the buffer is the same every time. */
  async function write(draft: { write(block: Buffer): Promise<void> }, blocks: number): Promise<string> {
    const hash = createHash('sha256');
    const buffer = Buffer.alloc(BLOCK_BYTES);
    for (let n = 0; n < blocks; n++) {
      const block = n === blocks - 1 ? buffer.subarray(0, 12_345) : buffer;
      randomBytes(block.length).copy(block);
      hash.update(block);
      await draft.write(block);
    }
    return hash.digest('hex');
  }
  async function hashOf(sha256: string): Promise<string> {
    const hash = createHash('sha256');
    for await (const piece of (await payloads.read(tenant, sha256))!) hash.update(piece);
    return hash.digest('hex');
  }

  it('is read as it was written, by several at a time', async () => {
    const drafts = [1, 2, 3].map(() => payloads.begin(tenant));
    const written = await Promise.all(drafts.map((draft) => write(draft, 40)));
    for (const [n, draft] of drafts.entries()) await draft.keep(written[n]!, 39 * BLOCK_BYTES + 12_345);
    for (const sha256 of written) expect(await hashOf(sha256)).toBe(sha256);
  });

  it('takes a tenth of the room where the bytes repeat themselves, and is read as it was written', async () => {
    const before = await chunks();
    const rows = Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ n, text: 'the same text again'.repeat(5) }));
    const bytes = Buffer.from(rows.join());
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await payloads.keep(tenant, sha256, bytes);
    expect((await chunks()) - before).toBeLessThan(bytes.length / 10 / 8000);
    expect(await hashOf(sha256)).toBe(sha256);
    const client = await database.pool.connect();
    expect(await readWithin(client, tenant, sha256)).toEqual(bytes);
    client.release();
  });

  it('is read when it was stored before there was compression', async () => {
    const parts = [randomBytes(8000), randomBytes(8000), randomBytes(500)];
    const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex');
    const id = uuid();
    await database.pool.query('insert into payloads (id, tenant_id, sha256, bytes) values ($1, $2, $3, 16500)', [
      id,
      tenant,
      sha256,
    ]);
    for (const [number, data] of parts.entries())
      await database.pool.query('insert into payload_chunks values ($1, $2, $3)', [id, number, data]);
    expect(await hashOf(sha256)).toBe(sha256);
    const client = await database.pool.connect();
    expect(await readWithin(client, tenant, sha256)).toEqual(Buffer.concat(parts));
    client.release();
  });

  it('leaves nothing when it is given up, before its end or after', async () => {
    const before = await chunks();
    for (const whole of [false, true]) {
      const draft = payloads.begin(tenant);
      await write(draft, 9);
      if (whole) draft.complete();
      await draft.discard();
      await draft.discard();
    }
    expect(await chunks()).toBe(before);
    // A statement that asks the database to write its log ahead is not waited for.
    await until(() => database.pool.idleCount === database.pool.totalCount);
  });

  it('fails when its connection breaks, while blocks still come', async () => {
    const draft = payloads.begin(tenant);
    // It commits when no block comes for a moment, and has no connection then.
    await until(async () => {
      await write(draft, 5);
      const { rowCount } = await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where query like 'copy payload_chunks%' and state <> 'idle' and datname = current_database()`,
      );
      return rowCount! > 0;
    });
    await expect(write(draft, 200)).rejects.toThrow();
    await draft.discard();
    const next = payloads.begin(tenant);
    const sha256 = await write(next, 2);
    await next.keep(sha256, BLOCK_BYTES + 12_345);
    expect(await hashOf(sha256)).toBe(sha256);
  });

  describe('slowly', () => {
    const count = async (table: string) =>
      (await database.pool.query(`select count(*)::int as n from ${table}`)).rows[0].n as number;
    const unheld = async () => {
      while (database.pool.idleCount < database.pool.totalCount) await new Promise((resolve) => setImmediate(resolve));
    };
    const blocks = [1, 2, 3].map((n) => randomBytes(n === 3 ? 12_345 : BLOCK_BYTES));
    const bytes = 2 * BLOCK_BYTES + 12_345;
    const sha256 = createHash('sha256').update(Buffer.concat(blocks)).digest('hex');

    /** Each block is committed, and the connection given back, before the next one comes. */
    async function writeSlowly(workspace = tenant) {
      const draft = payloads.begin(workspace);
      for (const block of blocks) {
        await draft.write(block);
        await unheld();
      }
      return draft;
    }

    it('holds no connection between its blocks, and is read as it was written', async () => {
      const before = await chunks();
      // More at a time than there are connections.
      const drafts = await Promise.all(Array.from({ length: 22 }, () => writeSlowly()));
      expect(await payloads.read(tenant, sha256)).toBeUndefined();
      for (const draft of drafts) await draft.keep(sha256, bytes);
      expect(await hashOf(sha256)).toBe(sha256);
      // The same content is kept once.
      expect([await chunks(), await count('payload_drafts')]).toEqual([
        before + Math.ceil(BLOCK_BYTES / 8000) * 2 + 2,
        0,
      ]);
    });

    it('leaves nothing when it is given up', async () => {
      const before = await chunks();
      await (await writeSlowly()).discard();
      expect([await chunks(), await count('payload_drafts')]).toEqual([before, 0]);
    });

    it('is swept when nothing came for long, and cannot go on then', async () => {
      const before = await chunks();
      const drafts = [await writeSlowly(), await writeSlowly(uuid())];
      await payloads.removeDrafts(new Date(Date.now() - 3_600_000));
      expect(await count('payload_drafts')).toBe(2);
      await payloads.removeDrafts(new Date(Date.now() + 3_600_000));
      expect([await chunks(), await count('payload_drafts')]).toEqual([before, 0]);
      await drafts[0]!.write(blocks[0]!);
      await unheld();
      await expect(drafts[0]!.write(blocks[1]!)).rejects.toThrow(PayloadGone);
      await expect(drafts[1]!.keep(sha256, bytes)).rejects.toThrow(PayloadGone);
      for (const draft of drafts) await draft.discard();
      expect(await chunks()).toBe(before);
    });
  });
});
