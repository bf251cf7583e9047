import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  costlyFilter,
  largeSecrets,
  manyMembers,
  manyRuns,
  manySecrets,
  oddMetadata,
  tinyBlocks,
  upload,
  wideWindow,
} from './bodies';
import type { Connections, RawRequest } from './connections';

/** Means of the attacker: two keys of its own workspace, and a deployment there. */
export interface Hostile {
  readonly readKey: string;
  readonly writeKey: string;
  readonly deploymentId: string;
}

/** One round of an attack. */
type Attack = (connections: Connections) => Promise<unknown>;

const JSON_TYPE = { 'content-type': 'application/json' };
const UPLOAD = '/api/v1/datasets/upload-experiment';
const TRICKLE_MS = 10_000;
/** A pause of an attack that costs the attacker little. */
const PAUSE_MS = 200;
/** Between events of nearly 1 MB: an hour of them is less than 2 GB, which the limit on stored bytes allows. */
const LARGE_EVENT_MS = 2000;

const times = <T>(count: number, make: (number: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Everything that one workspace, or somebody without a key, can do at the limits, by name. */
export function attacks({ readKey, writeKey, deploymentId }: Hostile): Record<string, Attack> {
  const writing = { 'x-api-key': writeKey, ...JSON_TYPE };
  const reading = { 'x-api-key': readKey, ...JSON_TYPE };
  const bundle = { path: '/docs/swagger-ui-bundle.js' };
  const big = [
    { path: '/runs/batch', body: manyRuns(40_000) },
    { path: '/v2/deployments', body: manyMembers(500_000) },
    { path: `/v2/deployments/${deploymentId}`, method: 'PATCH', body: manySecrets(100_000) },
    { path: '/sessions', body: manyMembers(500_000) },
  ];
  const packed = [wideWindow(), tinyBlocks(700_000)];
  const heavy = Buffer.from(upload(1, 12_000_000));
  const delivery = Buffer.alloc(25_000_000, 0x20);
  let turn = 0;

  return {
    'assets, unread and pipelined': (to) =>
      Promise.all([
        ...times(10, () => to.pipelineUnread(bundle, 50, 5000)),
        ...times(120, () => to.pipelineUnread(bundle, 1, 5000)),
      ]),
    'packed bodies': async (to) => {
      const headers = { ...writing, 'content-encoding': 'zstd' };
      await to.send({ method: 'POST', path: UPLOAD, headers, body: packed[turn++ % packed.length]! });
      await delay(PAUSE_MS);
    },
    'slow requests of a read key': (to) =>
      Promise.all(
        times(128, () => to.trickle({ method: 'POST', path: '/runs/query', headers: reading }, 1000, TRICKLE_MS)),
      ),
    'slow uploads': (to) =>
      Promise.all(times(8, () => to.trickle({ method: 'POST', path: UPLOAD, headers: writing }, 100_000, TRICKLE_MS))),
    'large bodies': async (to) => {
      const { method = 'POST', ...request } = big[turn++ % big.length]! as RawRequest;
      await to.send({ method, ...request, headers: writing });
      await delay(PAUSE_MS);
    },
    'large events': async (to) => {
      const path = `/v2/deployments/${deploymentId}`;
      await to.send({ method: 'PATCH', path, headers: writing, body: largeSecrets() });
      await to.send({ path: `${path}/history?limit=100`, headers: reading });
      await delay(LARGE_EVENT_MS);
    },
    'costly filters': (to) =>
      Promise.all(
        times(20, () => to.send({ method: 'POST', path: '/runs/query', headers: reading, body: costlyFilter(50) })),
      ),
    'costly filters of clients that hang up': async (to) => {
      const request = { method: 'POST', path: '/runs/query', headers: reading, body: costlyFilter(40) };
      await Promise.all(times(10, () => to.pipelineUnread(request, 1, 500)));
    },
    'webhooks on names that nobody answers for': async (to) => {
      const body = JSON.stringify({
        url: `https://silent-${randomUUID()}.example/hook`,
        event_types: ['deployment.patched'],
      });
      await to.send({ method: 'POST', path: '/v1/webhooks', headers: writing, body });
      const cpu = 1 + (turn++ % 3);
      const change = JSON.stringify({ source_config: { resource_spec: { cpu } } });
      await to.send({ method: 'PATCH', path: `/v2/deployments/${deploymentId}`, headers: writing, body: change });
      await delay(PAUSE_MS);
    },
    'many large uploads at a time': (to) =>
      Promise.all(times(60, () => to.send({ method: 'POST', path: UPLOAD, headers: writing, body: heavy }))),
    'large deliveries without a key': (to) =>
      Promise.all(
        times(20, () => {
          const path = `/v1/integrations/${randomUUID()}/webhook`;
          return to.send({ method: 'POST', path, headers: JSON_TYPE, body: delivery });
        }),
      ),
    'wrong keys': async (to) => {
      const headers = () => ({ 'x-api-key': `fairlead_${randomBytes(24).toString('base64url')}` });
      await Promise.all(times(20, () => to.send({ path: '/v2/deployments', headers: headers() })));
      await delay(PAUSE_MS);
    },
    'requests without a key': async (to) => {
      await Promise.all(times(20, () => to.send({ path: `/v2/deployments/${randomUUID()}` })));
      await delay(PAUSE_MS);
    },
    'metadata that databases refuse': async (to) => {
      await to.send({ method: 'POST', path: '/sessions', headers: writing, body: oddMetadata(turn++) });
      await delay(PAUSE_MS);
    },
  };
}
