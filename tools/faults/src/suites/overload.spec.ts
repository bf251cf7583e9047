import { execFileSync } from 'node:child_process';
import { Home, type Service, until } from '@fairlead/e2e/testing';
import { load, makeDeployments } from '../load';
import { report } from '../report';
import { settings } from '../settings';

const CLIENTS = 64;
const TIMES = 5;
const P99_MS = 1000;
/** Growth of memory that is allowed beyond its use while the service was busy. */
const GROWTH_MB = 256;

let home: Home;
let service: Service;
beforeAll(async () => {
  home = new Home();
  service = await home.start();
});
afterAll(() => home.end());

it(`answers what it lets in, and refuses the rest at once, under ${TIMES} times the load it can bear`, async () => {
  const key = home.key();
  const ids = await makeDeployments(service.url, key, CLIENTS);
  const { closedLoopMs, overloadMs } = settings;
  const busy = await load(service.url, { ids, key, clients: CLIENTS, ms: closedLoopMs });
  expect(busy.others).toEqual({});
  const bearable = (busy.succeeded.length * 1000) / closedLoopMs;
  const before = memory();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, memory())), 1000);
  const { succeeded, ...figures } = await load(service.url, { ids, key, rate: TIMES * bearable, ms: overloadMs });
  clearInterval(watch);
  const p99 = succeeded[Math.floor(succeeded.length * 0.99)]!;
  report(`${TIMES} times overload for ${overloadMs / 1000} s`, {
    [`${CLIENTS} clients achieve`]: `${Math.round(bearable)}/s`,
    'sent then': `${Math.round((figures.sent * 1000) / overloadMs)}/s`,
    answered: `${Math.round((succeeded.length * 1000) / overloadMs)}/s`,
    p99: `${p99} ms`,
    refused: figures.refused,
    broken: figures.broken,
    'not sent': figures.unsent,
    memory: `${before} MB before, ${most} MB at most`,
  });
  expect(figures.others).toEqual({});
  expect(succeeded.length).toBeGreaterThan(0);
  // Where tests run side by side, too little may be sent, and answered late.
  if (settings.full) {
    expect(figures.refused).toBeGreaterThan(0);
    expect(figures.broken).toBe(0);
    expect(p99).toBeLessThanOrEqual(P99_MS);
  }
  expect(most).toBeLessThan(before + GROWTH_MB);
  const after = await until(
    () => load(service.url, { ids, key, clients: 1, ms: 500 }),
    ({ succeeded: [first] }) => first !== undefined,
  );
  expect(after.others).toEqual({});
});

/** Resident memory of the service in MB. */
function memory(): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(service.process.pid)], { encoding: 'utf8' });
  return Math.round(Number(kilobytes) / 1024);
}
