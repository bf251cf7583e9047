import { bareServer } from './bare-server';
import type { BenchServer } from './bench-server';
import { type Figure, median, shown } from './figure';
import { rate } from './load';
import { nestPeer } from './nest-peer';
import { insertRate } from './programs';

const ROUNDS = 3;
const PAGES = 380;
const SECONDS = 5;

/** A list of 20 deployments (about 30 KB), against bare node:http that stringifies the same page. */
export async function listFigure(server: BenchServer): Promise<Figure> {
  for (let n = 0; n < 25; n++) await server.send('POST', '/v2/deployments', deployment(`list-${n}`, 12));
  const path = '/v2/deployments?limit=20';
  const page = await server.send<object>('GET', path);
  const size = JSON.stringify(page).length;
  const bare = await bareServer({ page });
  const ratios: number[] = [];
  const rates: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const limit = await rate({ url: bare.url, connections: 64, seconds: SECONDS });
    const ours = await rate({ url: server.url + path, connections: 64, seconds: SECONDS, headers: server.headers });
    ratios.push(ours / limit);
    rates.push(`${shown(ours)}/s of ${shown(limit)}/s`);
  }
  await bare.stop();
  const detail = `${Math.round(size / 1000)} KB; ${rates.join(', ')}`;
  return {
    name: 'GET a list of 20 deployments, 64 connections, against bare node:http',
    value: median(ratios),
    unit: '',
    goal: { atLeast: 0.5 },
    detail,
  };
}

/** Lists of which no two that wait at the same time are alike, so that none shares the query of another. */
export async function pagesFigure(server: BenchServer): Promise<Figure> {
  for (let n = 0; n < PAGES + 20; n++) await server.send('POST', '/v2/deployments', deployment(`pages-${n}`, 12));
  const bare = await bareServer({ page: await server.send<object>('GET', pagePath(0)) });
  let sent = 0;
  const next = () => ({ path: pagePath(sent++ % PAGES), body: '' });
  const ratios: number[] = [];
  const rates: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const limit = await rate({ url: bare.url, connections: 64, seconds: SECONDS });
    const { url, headers } = server;
    const ours = await rate({ url, connections: 64, seconds: SECONDS, method: 'GET', headers, next });
    ratios.push(ours / limit);
    rates.push(`${shown(ours)}/s of ${shown(limit)}/s`);
  }
  await bare.stop();
  return {
    name: `GET ${PAGES} different lists of 20 deployments, 64 connections, against bare node:http`,
    value: median(ratios),
    unit: '',
    goal: { atLeast: 0.5 },
    detail: rates.join(', '),
  };
}

function pagePath(offset: number): string {
  return `/v2/deployments?limit=20&offset=${offset}`;
}

/** PATCH with 32 connections, against pgbench inserting one similar row per transaction, and against a plain service. */
export async function patchFigures(server: BenchServer, databaseUrl: string, folder: string): Promise<Figure[]> {
  const ids: string[] = [];
  for (let n = 0; n < 64; n++) {
    const { id } = await server.send<{ id: string }>('POST', '/v2/deployments', deployment(`patch-${n}`, 1));
    ids.push(id);
  }
  const peer = await nestPeer(databaseUrl);
  const { headers } = server;
  const patched = (url: string, path: string, targets: readonly string[]) => {
    let sent = 0;
    const next = () => {
      sent += 1;
      const body = JSON.stringify({ source_config: { build_command: `make ${sent}` } });
      return { path: `${path}/${targets[sent % targets.length]}`, body };
    };
    return rate({ url, connections: 32, seconds: SECONDS, method: 'PATCH', headers, next });
  };
  const rounds: { limit: number; plain: number; ours: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const limit = await insertRate(databaseUrl, folder, SECONDS);
    const plain = await patched(peer.url, '/deployments', peer.ids);
    rounds.push({ limit, plain, ours: await patched(server.url, '/v2/deployments', ids) });
  }
  await peer.stop();
  return [
    {
      name: 'PATCH a deployment, 32 connections, against pgbench inserting one row per transaction',
      value: median(rounds.map(({ ours, limit }) => ours / limit)),
      unit: '',
      goal: { atLeast: 0.25 },
      detail: rounds.map(({ ours, limit }) => `${shown(ours)}/s of ${shown(limit)}/s`).join(', '),
    },
    {
      name: 'the same, against NestJS on Fastify with TypeORM, a row lock and an audit row',
      value: median(rounds.map(({ ours, plain }) => ours / plain)),
      unit: '',
      goal: { atLeast: 5 },
      detail: rounds.map(({ ours, plain }) => `${shown(ours)}/s of ${shown(plain)}/s`).join(', '),
    },
  ];
}

function deployment(name: string, volumes: number): object {
  const resource_spec = {
    min_scale: 1,
    max_scale: 4,
    cpu: 1,
    memory_mb: 1024,
    labels: { team: 'bench', tier: 'gold' },
    volumes: Array.from({ length: volumes }, (_, n) => ({
      name: `v${n}`,
      configMap: { name: `settings-${n}`, optional: true },
    })),
  };
  return {
    name,
    source: 'internal_container',
    source_config: {
      custom_url: 'https://agent.example.com/with/a/path/of/its/own',
      deployment_type: 'prod',
      resource_spec,
    },
    source_revision_config: { image_uri: 'registry.example.com/team/agent:1.0' },
    secrets: [],
  };
}
