import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@fairlead/postgres/testing';
import { Installation, startTogether } from '@fairlead/service/testing';
import { LogTail } from '../../../../libs/eventing/src/followers/log-tail';
import { executedFiles } from '../testing/executed-files';

const page = readFileSync(join(__dirname, '../../../../docs/explained/architecture.md'), 'utf8');

/** Files that the walk leaves out: the server, the validators, the store that appends, and the followers. */
const OUTSIDE = /^libs\/(edge|service|schema)\/|^libs\/eventing\/src\/(postgres|followers)\//;
const MOST_STEPS = 15;
const RUNS = 20;
/** Duration below which the work of timers cannot fall into every run (ms). */
const SHORT_MS = 100;

/** The files of the list below a heading. */
function listBelow(heading: string): string[] {
  const section = page.split(`\n### ${heading}\n`)[1]!.split(/\n#{2,3} /, 1)[0]!;
  return [...section.matchAll(/`([^`]+\.ts)`/g)].map(([, file]) => file!);
}

describe('docs/explained/architecture.md', () => {
  let installation: Installation;
  beforeAll(async () => (installation = await Installation.start({}, startTogether)));
  afterAll(async () => {
    jest.restoreAllMocks();
    await installation.stop();
  });

  it('walks through the files that a PATCH executes', async () => {
    const { id } = await installation.ask('POST', '/v2/deployments', {
      name: 'agent',
      source: 'external_container',
      source_config: {},
      source_revision_config: { image_uri: 'registry.example/agent:1' },
      secrets: [{ name: 'TOKEN', value: 'first' }],
    });
    let version = 1;
    const patch = () => {
      const secrets = [{ name: 'TOKEN', value: randomUUID() }];
      const source_revision_config = { image_uri: `registry.example/agent:${++version}` };
      const headers = { 'idempotency-key': randomUUID() };
      return installation.ask('PATCH', `/v2/deployments/${id}`, { secrets, source_revision_config }, headers);
    };
    for (let warmed = 0; warmed < 5; warmed++) await patch();
    // Nothing is rolled out any more, and every follower waits for the next event.
    await until(async () => {
      const { active_revision_id, latest_revision_id } = await installation.ask('GET', `/v2/deployments/${id}`);
      return active_revision_id === latest_revision_id;
    });
    // What followers do with the events is no part of the request: they read them only now and then.
    for (const way of ['offer', 'hear'] as const) jest.spyOn(LogTail.prototype, way).mockReturnValue(undefined);
    const began = performance.now();
    const executed = (await executedFiles(patch, RUNS)).filter((file) => !OUTSIDE.test(file));
    const isSlow = (performance.now() - began) / RUNS > SHORT_MS;
    const steps = listBelow('The files of a PATCH');
    const helpers = listBelow('Helpers of a PATCH');
    const told = [...steps, ...helpers].map((file) => `libs/${file}`).sort();
    expect(executed.filter((file) => told.includes(file))).toEqual(told);
    let unknown = executed.filter((file) => !told.includes(file));
    if (!isSlow) expect(unknown).toEqual([]);
    // On a slow machine, what timers do falls into every run. It happens without a request too.
    await until(
      async () => {
        const idle = await executedFiles(() => delay(100), 1);
        return (unknown = unknown.filter((file) => !idle.includes(file)));
      },
      (left) => left.length === 0,
    );
    expect(steps.length).toBeLessThanOrEqual(MOST_STEPS);
  });
});
