import { spawn } from 'node:child_process';
import { DeploymentsView } from '@fairlead/deployments';
import { checkpoint, follow, PostgresEventStore } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { v7 as uuid } from 'uuid';
import { bareServer } from './bare-server';
import { type Figure, median, seconds, shown } from './figure';
import { rate } from './load';
import { insertRate, psql } from './programs';

const ROUNDS = 3;
const WRITERS = 32;
const APPENDS = 1500;
const SECONDS = 5;
/** As large as a deployment. */
const ANSWER_BYTES = 1300;

/** Appends by 32 writers, and the same over bare HTTP, against pgbench inserting one similar row per transaction. */
export async function appendFigures(pool: Pool, databaseUrl: string, folder: string): Promise<Figure[]> {
  const store = new PostgresEventStore(pool);
  const data = { source_config: { build_command: 'make 123456', repo_url: 'https://example.com/a/b' } };
  const metadata = { tenant: uuid(), actor: uuid(), requestId: uuid() };
  const writer = async () => {
    for (let n = 0; n < APPENDS; n++)
      await store.append(`bench-${uuid()}`, 0, [{ type: 'DeploymentPatched', data }], metadata);
  };
  const bare = await bareServer({ page: { answer: 'a'.repeat(ANSWER_BYTES) }, log: databaseUrl });
  const headers = { 'content-type': 'application/json' };
  const next = () => ({ path: `/${uuid()}`, body: JSON.stringify(data) });
  const limits: number[] = [];
  const direct: number[] = [];
  const overHttp: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    limits.push(await insertRate(databaseUrl, folder, SECONDS));
    const took = await seconds(() => Promise.all(Array.from({ length: WRITERS }, writer)));
    direct.push((WRITERS * APPENDS) / took);
    const load = { url: bare.url, connections: WRITERS, seconds: SECONDS, headers, next };
    overHttp.push(await rate({ ...load, method: 'PATCH' }));
  }
  await bare.stop();
  await store.close();
  const figure = (name: string, rates: number[]) => ({
    name,
    value: median(rates.map((rate, round) => rate / limits[round]!)),
    unit: '' as const,
    detail: rates.map((rate, round) => `${shown(rate)}/s of ${shown(limits[round]!)}/s`).join(', '),
  });
  const overHttpName = 'the same over bare node:http, which does nothing else';
  return [
    { ...figure('append, 32 writers, against the same pgbench', direct), goal: { atLeast: 1 } },
    figure(overHttpName, overHttp),
  ];
}

const DEPLOYMENTS = 20_000;
const EVENTS_EACH = 50;
export const EVENTS = DEPLOYMENTS * EVENTS_EACH;
const BUSY = 1000;

/** A million events into the deployments view, against reading the same events with COPY TO. `pool` is on a database of its own. */
export async function replayFigure(pool: Pool, databaseUrl: string): Promise<Figure> {
  await fillLog(pool);
  const store = new PostgresEventStore(pool);
  const view = new DeploymentsView();
  const copied = await seconds(() => copyOut(databaseUrl));
  const head = await store.head();
  await checkpoint(pool, view.name);
  const replayed = await seconds(async () => {
    const stop = new AbortController();
    const { categories } = view;
    const passed = (position: bigint) => position >= head && stop.abort();
    await follow(view.name, store, pool, stop.signal, view.handle, { categories, passed });
  });
  await store.close();
  const detail = `${shown(EVENTS / replayed)} events/s; COPY TO ${shown(EVENTS / copied)} events/s; ${DEPLOYMENTS.toLocaleString('en')} deployments`;
  return {
    name: 'replay of 1,000,000 events into the deployments view, against COPY TO of the same events',
    value: copied / replayed,
    unit: '',
    goal: { atLeast: 0.1 },
    detail,
  };
}

/**
 * Writes the streams as the service would have: at any time a thousand deployments are busy, each created and then
 * patched in turn with the others, until the next thousand comes.
 */
export async function fillLog(pool: Pool): Promise<void> {
  const created = {
    source: 'codehost',
    source_config: { repo_url: 'https://github.com/example/agent', build_on_push: false },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'agent.json' },
    secrets: [],
    secret_references: null,
  };
  const tenant = uuid();
  await pool.query(
    `insert into events
     select (select coalesce(max("position"), 0) from events) + row_number() over (order by d / $5::int, r, d),
            'deployment-' || id, r + 1, gen_random_uuid(),
            case r when 0 then 'DeploymentCreated' else 'DeploymentPatched' end,
            case r when 0 then ($2::jsonb || jsonb_build_object('deployment_id', id, 'tenant_id', $3::text, 'name', 'agent-' || d))::text
                   else '{"source_config":{"build_command":"make ' || r || '"}}' end::json,
            json_build_object('tenant', $3::text, 'actor', 'bench', 'requestId', id), now()
     from generate_series(0, $4::int - 1) r,
          (select d, md5(d::text)::uuid as id from generate_series(1, $1::int) d) as deployment
     order by 1`,
    [DEPLOYMENTS, JSON.stringify(created), tenant, EVENTS_EACH, BUSY],
  );
  await pool.query('vacuum analyze events');
}

/** Reads the whole log as COPY TO, and throws it away. */
export async function copyOut(databaseUrl: string): Promise<void> {
  await psql(databaseUrl, 'select count(*) from events');
  await new Promise<void>((resolve, reject) => {
    const copy = 'copy (select * from events order by "position") to stdout';
    const child = spawn('psql', [databaseUrl, '-qX', '-c', copy], { stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error('psql failed'));
    });
  });
}
