import { testDatabase, type TestDatabase, until } from '../testing';
import { openDatabase } from './database';
import { Migration } from './migration';
import { fillWorkspaces, WorkspaceColumns } from './workspace-columns';

const [FIRST, SECOND, THIRD, MISSING] = [1, 2, 3, 4].map((n) => `00000000-0000-7000-8000-00000000000${n}`);
const TENANT = crypto.randomUUID();
const OTHER = crypto.randomUUID();

class Tables1700000000001 extends Migration {
  readonly statements = [
    'create table boxes (id uuid primary key, tenant_id uuid not null)',
    'create table things (box_id uuid not null, number int not null, primary key (box_id, number))',
    'create table later (owner_id uuid not null)',
  ];
}

class Columns1700000000002 extends WorkspaceColumns {
  readonly owners = { things: ['box_id', 'boxes'], later: ['owner_id', 'owners'] } as const;
}

const ALL = [Tables1700000000001, Columns1700000000002];

let database: TestDatabase;
let told: string[];
beforeEach(async () => {
  told = [];
  database = await testDatabase([]);
  await (await openDatabase({ url: database.url, migrations: [Tables1700000000001] })).end();
  await query(
    `insert into boxes values ('${FIRST}', '${TENANT}'), ('${SECOND}', '${OTHER}'), ('${THIRD}', '${TENANT}')`,
  );
  for (const [box, count] of [
    [FIRST, 450],
    [SECOND, 400],
    [THIRD, 1],
    [MISSING, 3],
  ] as const)
    await add(box!, count);
  await (await openDatabase({ url: database.url, migrations: ALL })).end();
});
afterEach(() => database.drop());

const query = async <T>(text: string) => (await database.pool.query(text)).rows as T[];
const add = (box: string, count: number) =>
  query(`insert into things (box_id, number) select '${box}', n from generate_series(1, ${count}) n
    on conflict do nothing`);
const fill = (signal = new AbortController().signal) =>
  fillWorkspaces(database.url, ALL, (line) => void told.push(line), signal);
const counts = () =>
  query<object>('select box_id, tenant_id, count(*)::int from things group by box_id, tenant_id order by box_id');
const FILLED = [
  { box_id: FIRST, tenant_id: TENANT, count: 450 },
  { box_id: SECOND, tenant_id: OTHER, count: 400 },
  { box_id: THIRD, tenant_id: TENANT, count: 1 },
  { box_id: MISSING, tenant_id: null, count: 3 },
];
const filling = () =>
  query<{ pid: number }>(
    `select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where a.datname = current_database() and not l.granted and a.query like 'update things%'`,
  );

describe('Rows of before', () => {
  it('get the workspace of their owner, and say how many; those without an owner wait', async () => {
    await fill();
    expect(await counts()).toEqual(FILLED);
    expect(told).toEqual(['things: 851 rows of before have got their workspace, which was all.']);
    // Those that a service of the version before adds meanwhile.
    await query(`insert into boxes values ('${MISSING}', '${OTHER}')`);
    await fill();
    expect((await counts()).at(-1)).toEqual({ box_id: MISSING, tenant_id: OTHER, count: 3 });
  });

  it('are filled in small transactions, which go on where a connection was lost or the process stopped', async () => {
    const client = await database.pool.connect();
    // The second owner cannot be filled while one of its rows is locked.
    await client.query('begin');
    await client.query(`select from things where box_id = '${SECOND}' and number = 400 for update`);
    const ending = new AbortController();
    const both = [fill(ending.signal), fill(ending.signal)];
    await until(filling, (waiting) => waiting.length === 1);
    expect((await counts())[0]).toEqual(FILLED[0]);
    ending.abort();
    await Promise.all(both);
    await client.query('rollback');
    client.release();
    await until(filling, (waiting) => waiting.length === 0);
    await fill();
    expect(await counts()).toEqual(FILLED);
  });
});
