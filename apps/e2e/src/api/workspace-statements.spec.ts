import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as edge from '@fairlead/edge';
import { type Installation, readModels } from '@fairlead/admin';
import { EventStore, Rebuild } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { Successes } from '../testing/fuzz/successes';
import { RouteService } from '../testing/route-service';
import { exceptionOf, EXCEPTIONS, IN_BACKGROUND, inOneLine } from '../testing/statements/exceptions';
import { askFurther } from '../testing/statements/further-requests';
import { RecordedStatements, type Statement } from '../testing/statements/recorded-statements';
import { SpreadTables } from '../testing/statements/spread-tables';
import { holds, writtenIn } from '../testing/statements/written';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

/*
 * Each statement reads and writes the rows of one workspace. All statements are recorded while every route is asked and
 * the tables are made again from the log; PostgreSQL plans each of them for tables that are partitioned by the
 * workspace, and a statement in the sources that was not recorded is a failure as well.
 */
const LIBRARIES = resolve(__dirname, '../../../../libs');
const NO_STATEMENTS = /\.spec\.ts$|(^|\/)(testing|migrations)\//;

let service: RouteService;
let client: PoolClient;
let tables: SpreadTables;
let statements: Statement[];

beforeAll(async () => {
  service = await RouteService.start(jest.mocked(edge.createServer), 'a-token');
  const recorded = new RecordedStatements();
  try {
    await askFurther(service);
    await askEveryRoute();
    await service.rest();
    await makeAgain();
  } finally {
    recorded.end();
  }
  statements = recorded.all();
  client = await service.database.pool.connect();
  tables = await SpreadTables.create(client);
});
afterAll(async () => {
  client?.release(true);
  await service?.stop();
});

async function askEveryRoute(): Promise<void> {
  const successes = await Successes.prepare(service);
  for (const route of successes.inOrder()) {
    for (const { path, key, body, headers } of successes.requestsTo(route)) {
      const request = {
        method: route.method,
        redirect: 'manual',
        headers: { 'x-api-key': key, ...headers },
        body,
      } as const;
      await (await fetch(service.url + path, request)).arrayBuffer();
    }
  }
}

async function makeAgain(): Promise<void> {
  const { pool, url } = service.database;
  const store = service.app.get(EventStore);
  for (const model of readModels({ store } as unknown as Installation)) {
    if (model.name !== 'experiments') continue;
    const rebuild = new Rebuild(store, pool, url, model);
    await rebuild.fill();
    await rebuild.close();
  }
}

it('each statement is about one workspace, but for those that have a reason', async () => {
  const excepted = new Set<string>();
  const faults: object[] = [];
  for (const statement of statements) {
    const relations = await tables.spread(statement);
    if (relations.length === 0 || inOneLine(statement.text).includes(IN_BACKGROUND)) continue;
    const exception = exceptionOf(statement.text);
    if (exception === undefined) faults.push({ relations, statement: inOneLine(statement.text) });
    else excepted.add(exception);
  }
  expect(faults).toEqual([]);
  // No exception outlives its statement.
  expect([...excepted].sort()).toEqual(EXCEPTIONS.map(([part]) => part).sort());
});

it('every statement in the sources was recorded', () => {
  const folders = readdirSync(LIBRARIES).map((name) => join(LIBRARIES, name, 'src'));
  const written = folders.flatMap((folder) =>
    readdirSync(folder, { encoding: 'utf8', recursive: true })
      .filter((path) => path.endsWith('.ts') && !NO_STATEMENTS.test(path))
      .flatMap((path) => writtenIn(join(folder, path))),
  );
  const texts = statements.map(({ text }) => text);
  const unknown = written.filter((one) => !texts.some((text) => holds(text, one)));
  expect(written.length).toBeGreaterThan(150);
  expect(unknown.map(({ place, parts }) => `${place}: ${inOneLine(parts.join(' … '))}`)).toEqual([]);
});

describe('a statement that leaves the workspace out is found', () => {
  const tenant = crypto.randomUUID();
  const CASES: Readonly<Record<string, Statement>> = {
    'by an id alone': { text: 'select 1 from runs where id = $1', values: [tenant] },
    'in a correlated condition': {
      text: `select (select count(*) from feedback f where f.tenant_id = r.tenant_id and f.run_id = r.id)
        from runs r where r.tenant_id = $1`,
      values: [tenant],
    },
    'in a lateral join': {
      text: `select r.id from sessions s cross join lateral (
          select * from runs r where r.session_id = s.id order by r.start_time limit 1) r where s.tenant_id = $1`,
      values: [tenant],
    },
    'behind a parameter that is null': {
      text: `select 1 from sessions s
        where s.tenant_id = $1 and ($2::uuid is null or exists (select from runs r where r.id = $2))`,
      values: [tenant, null],
    },
    'with no workspace': { text: 'select 1 from runs where tenant_id = $1', values: [null] },
    'in a copy': { text: `copy (select id from runs where session_id = '${tenant}') to stdout`, values: [] },
    'in an update': { text: 'update sessions set name = $2 where id = $1', values: [tenant, 'changed'] },
    'in a delete': { text: 'delete from feedback where session_id = $1', values: [tenant] },
    'with a key of another table': {
      text: 'insert into feedback_configs (tenant_id, key, config) values ($1, $2, $3) on conflict (key) do nothing',
      values: [tenant, 'key', '{}'],
    },
  };

  it.each(Object.entries(CASES))('%s', async (_, statement) => {
    expect(await tables.spread(statement)).not.toEqual([]);
  });

  it('and not one that names it', async () => {
    const text = `select r.id from sessions s join runs r on r.session_id = s.id and r.tenant_id = s.tenant_id
      where s.tenant_id = $1`;
    expect(await tables.spread({ text, values: [tenant] })).toEqual([]);
  });
});
