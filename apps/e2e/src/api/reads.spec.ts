import { Installation, OPERATOR as KEY, startApart, startTogether } from '@fairlead/service/testing';

/** Held by the test: reads of runs wait for it as if they took very long. */
const LOCK = 'begin; lock table runs in access exclusive mode';
const READS = 120;

describe.each([
  ['in one process', startTogether],
  ['behind the gateway', startApart],
])('Reads that take long, %s', (_name, start) => {
  let installation: Installation;
  let release: () => Promise<void>;
  let other: string;

  beforeAll(async () => {
    installation = await Installation.start({ READ_TIMEOUT: '2' }, start);
    const { id } = await installation.ask('POST', '/api/v1/workspaces', { display_name: 'another' });
    const { key } = await installation.ask(
      'POST',
      '/api/v1/api-key',
      { description: 'of the other' },
      { 'x-tenant-id': id },
    );
    other = key;
  });
  afterAll(() => installation?.stop());

  beforeEach(async () => {
    const client = await installation.database.pool.connect();
    await client.query(LOCK);
    release = async () => {
      await client.query('rollback');
      client.release();
    };
  });
  afterEach(() => release());

  /** A read of the runs of the workspace. */
  const slow = (signal?: AbortSignal) =>
    fetch(`${installation.url}/api/v1/runs/query`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ id: [crypto.randomUUID()] }),
      signal,
    });

  async function waiting(): Promise<number> {
    const { rowCount } = await installation.database.pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'fairlead/2 reads' and state = 'active'`,
    );
    return rowCount ?? 0;
  }

  it('end with a sentence that says what to do', async () => {
    const answer = await slow();
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 400,
      body: {
        detail: expect.stringMatching(/^This read took longer than the limit \(READ_TIMEOUT\): narrow its filter/),
      },
    });
  });

  it('end likewise for those who read what is shared, without a key', async () => {
    const client = await installation.database.pool.connect();
    try {
      await client.query('begin; lock table shares in access exclusive mode');
      const answer = await fetch(`${installation.url}/api/v1/public/${crypto.randomUUID()}/datasets`);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('(READ_TIMEOUT)')]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('leave room for the reads of other workspaces', async () => {
    const clients = new AbortController();
    const all = Array.from({ length: READS }, () => slow(clients.signal).catch(() => undefined));
    while ((await waiting()) < 4);
    // Datasets are in another table.
    const answer = await fetch(`${installation.url}/api/v1/datasets`, { headers: { 'x-api-key': other } });
    expect([answer.status, await answer.json()]).toEqual([200, []]);
    expect(await waiting()).toBeLessThanOrEqual(4);
    clients.abort();
    await Promise.all(all);
  });

  it('are cancelled in the database when their client goes away', async () => {
    const clients = new AbortController();
    const all = Array.from({ length: READS }, () => slow(clients.signal).catch(() => undefined));
    while ((await waiting()) === 0);
    const { rows: before } = await installation.database.pool.query<{ at: Date }>('select clock_timestamp() as at');
    clients.abort();
    await Promise.all(all);
    while ((await waiting()) > 0);
    const { rows: after } = await installation.database.pool.query<{ at: Date }>('select clock_timestamp() as at');
    // Those that waited would each have taken two seconds more.
    expect(+after[0]!.at - +before[0]!.at).toBeLessThan((READS / 4) * 2000);
  });
});
