import { spawn } from 'node:child_process';
import { DeploymentsView } from '@fairlead/deployments';
import { checkpoint, follow, PostgresEventStore } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { v7 as uuid } from 'uuid';
import { type Figure, median, seconds, shown } from './figure';
import { insertRate, psql } from './programs';

const ROUNDS = 3;
const WRITERS = 32;
const APPENDS = 1500;

/** Appends by 32 writers, against pgbench inserting one similar row per transaction. */
export async function appendFigure(pool: Pool, databaseUrl: string, folder: string): Promise<Figure> {
  const store = new PostgresEventStore(pool);
  const data = { source_config: { build_command: 'make 123456', repo_url: 'https://example.com/a/b' } };
  const metadata = { tenant: uuid(), actor: uuid(), requestId: uuid() };
  const writer = async () => {
    for (let n = 0; n < APPENDS; n++)
      await store.append(`bench-${uuid()}`, 0, [{ type: 'DeploymentPatched', data }], metadata);
  };
  const ratios: number[] = [];
  const rates: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const limit = await insertRate(databaseUrl, folder, 5);
    const ours = (WRITERS * APPENDS) / (await seconds(() => Promise.all(Array.from({ length: WRITERS }, writer))));
    ratios.push(ours / limit);
    rates.push(`${shown(ours)}/s of ${shown(limit)}/s`);
  }
  await store.close();
  return {
    name: 'append, 32 writers, against the same pgbench',
    value: median(ratios),
    unit: '',
    goal: 1,
    bound: 'at least',
    detail: rates.join(', '),
  };
}

const DEPLOYMENTS = 20_000;
const EVENTS_EACH = 50;
const BUSY = 1000;

/** A million events into the deployments view, against reading the same events with COPY TO. `pool` is on a database of its own. */
export async function replayFigure(pool: Pool, databaseUrl: string): Promise<Figure> {
  await fillLog(pool);
  const events = DEPLOYMENTS * EVENTS_EACH;
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
  const detail = `${shown(events / replayed)} events/s; COPY TO ${shown(events / copied)} events/s; ${DEPLOYMENTS.toLocaleString('en')} deployments`;
  return {
    name: 'replay of 1,000,000 events into the deployments view, against COPY TO of the same events',
    value: copied / replayed,
    unit: '',
    goal: 0.1,
    bound: 'at least',
    detail,
  };
}

/**
 * Writes the streams as the service would have: at any time a thousand deployments are busy, each created and then
 * patched in turn with the others, until the next thousand comes.
 */
async function fillLog(pool: Pool): Promise<void> {
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
     select row_number() over (order by d / $5::int, r, d), 'deployment-' || id, r + 1, gen_random_uuid(),
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

async function copyOut(databaseUrl: string): Promise<void> {
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
