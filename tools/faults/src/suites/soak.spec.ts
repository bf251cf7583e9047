import { fork } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Home, type Service, until } from '@fairlead/e2e/testing';
import { makeDeployments } from '../load';
import { report } from '../report';
import { settings } from '../settings';
import type { Orders, Rounds } from '../soak/hostile.main';
import { Worker } from '../soak/worker';

const SUCCESS = 0.999;
const P99_MS = 1000;
const MEMORY_MB = 1024;
const LONG = settings.soakMs >= 60_000;
const HOOK = join(__dirname, '../../../test/typescript.cjs');

let home: Home;
let service: Service;
let dns: Socket;
beforeAll(async () => {
  dns = createSocket('udp4').bind(0, '127.0.0.1');
  await once(dns, 'listening');
  home = new Home('standalone', [], settings.full);
  service = await home.start({
    NODE_OPTIONS: `--max-semi-space-size=64 -r ${join(__dirname, '../soak/silent-dns.cjs')}`,
    SILENT_DNS: `127.0.0.1:${dns.address().port}`,
  });
});
afterAll(async () => {
  await home.end();
  dns.close();
});

it(
  'serves one workspace while another one does all that its limits allow',
  async () => {
    const hostile = await newWorkspace('hostile');
    const working = await newWorkspace('working');
    const [deploymentId] = await makeDeployments(service.url, hostile.writeKey, 1);
    const worker = new Worker(service.url, working.writeKey);
    const attacker = fork(join(__dirname, '../soak/hostile.main.ts'), { execArgv: ['-r', HOOK] });
    attacker.send({
      ...hostile,
      deploymentId: deploymentId!,
      port: Number(new URL(service.url).port),
    } satisfies Orders);
    worker.start();
    const most = await watched(settings.soakMs);
    await worker.stop();
    attacker.send('stop');
    const [rounds] = (await once(attacker, 'message')) as [Rounds];
    const { succeeded, failed } = worker.figures;
    const others = Object.values(failed).reduce((sum, count) => sum + count, 0);
    const rate = succeeded / (succeeded + others);
    report(`${settings.soakMs / 60_000} minutes of one workspace against another`, {
      'requests of the other': succeeded + others,
      succeeded: `${(rate * 100).toFixed(3)} %`,
      failed: JSON.stringify(failed),
      p99: `${Math.round(worker.p99())} ms`,
      memory: `${most} MB at most, ${memory()} MB at the end`,
      rounds: JSON.stringify(rounds),
    });
    // Each attack was carried out, the service is still that process, and nothing was answered but by plan.
    expect(Object.entries(rounds).filter(([, count]) => LONG && count === 0)).toEqual([]);
    expect(service.process.exitCode).toBeNull();
    expect(Object.keys(failed).filter((status) => !['429', '503'].includes(status))).toEqual([]);
    expect(succeeded).toBeGreaterThan(0);
    expect(memory()).toBeLessThan(MEMORY_MB);
    // The short form also runs beside other tests, where every request takes longer.
    if (LONG) {
      expect(rate).toBeGreaterThanOrEqual(SUCCESS);
      expect(worker.p99()).toBeLessThanOrEqual(P99_MS);
    }
    await until(async () => (await fetch(`${service.url}/health/ready`)).ok);
  },
  settings.soakMs + 600_000,
);

/** Waits and answers the most memory that the service held meanwhile, in MB. */
async function watched(ms: number): Promise<number> {
  let most = 0;
  for (const end = Date.now() + ms; Date.now() < end && service.process.exitCode === null;) {
    most = Math.max(most, memory());
    await delay(1000);
  }
  return most;
}

/** Resident memory of the service in MB. */
function memory(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

async function newWorkspace(display_name: string): Promise<{ readKey: string; writeKey: string }> {
  const { id } = await admin<{ id: string }>('/api/v1/workspaces', { display_name });
  const newKey = async (scopes: readonly string[]) =>
    (await admin<{ key: string }>('/api/v1/api-key', { scopes }, { 'x-tenant-id': id })).key;
  return { readKey: await newKey(['read']), writeKey: await newKey(['read', 'write']) };
}

async function admin<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'x-api-key': home.key(), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
