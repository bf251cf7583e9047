import { hasEnded, Home, type Service } from '@fairlead/e2e/testing';
import { load, makeDeployments } from '../load';
import type { LoadFigures } from '../open-load';
import { report } from '../report';
import { settings } from '../settings';

const STEP_MS = 5000;
const RATE = 100;
const LONGEST_MS = 240_000;
/** The slowest answer of a step after which the code that has just started counts as compiled. */
const PROMPT_MS = 1000;
const WARM_UP_MS = 60_000;

let home: Home;
let cluster: Service;
beforeAll(async () => {
  home = new Home('cluster', ['--replicas', '2'], settings.full);
  cluster = await home.start();
});
afterAll(async () => {
  cluster?.process.kill('SIGTERM');
  await home.end();
});

it(`replaces every process of a cluster under ${RATE} requests a second without a failed one`, async () => {
  const key = home.key();
  const ids = await makeDeployments(cluster.url, key, 20);
  const step = () => load(cluster.url, { ids, key, rate: RATE, ms: STEP_MS });
  await inOperation(step);
  const start = Date.now();
  cluster.process.kill('SIGHUP');
  const steps: LoadFigures[] = [];
  const isOver = () => /Every process has been replaced|are left as they are/.test(cluster.output());
  do steps.push(await step());
  while (!isOver() && !hasEnded(cluster.process) && Date.now() < start + LONGEST_MS);
  const sum = (of: (figures: LoadFigures) => number) => steps.reduce((total, figures) => total + of(figures), 0);
  const times = steps.flatMap(({ succeeded }) => succeeded).sort((a, b) => a - b);
  report(`every process replaced under ${RATE} requests/s`, {
    seconds: Math.round((Date.now() - start) / 1000),
    sent: sum(({ sent }) => sent),
    succeeded: times.length,
    p99: `${times[Math.floor(times.length * 0.99)]} ms`,
    failed: sum(({ sent, succeeded }) => sent - succeeded.length),
  });
  expect(cluster.output()).toContain('Every process has been replaced.');
  for (const { sent, succeeded, refused, others, broken, unsent } of steps) {
    expect({ refused, others, broken, unsent, succeeded: succeeded.length }).toEqual({
      ...{ refused: 0, others: {}, broken: 0, unsent: 0, succeeded: sent },
    });
  }
}, 400_000);

/** A service that is replaced has been in use: resolves once it answers in time what it is to go on answering. */
async function inOperation(step: () => Promise<LoadFigures>): Promise<void> {
  const end = Date.now() + WARM_UP_MS;
  for (;;) {
    const { sent, succeeded } = await step();
    if (succeeded.length === sent && succeeded.at(-1)! < PROMPT_MS) return;
    if (Date.now() > end) throw new Error(`It does not answer ${RATE} requests a second in time.`);
  }
}
