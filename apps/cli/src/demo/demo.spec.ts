import { until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { Cli } from '../testing/cli';
import { BASELINE, NEW_PROMPT, SMALL_MODEL, WEB_SEARCH, WORSE_TOPIC } from './agents';
import { fill } from './fill';
import { storyOf } from './story';
import { TASKS } from './next-steps';
import type { Service } from './service';

/** The demo as a process, against the whole service. */

let installation: Installation;
let cli: Cli;
const demo = (...args: string[]) => cli.run(['demo', ...args]);

beforeAll(async () => {
  installation = await Installation.start({ EXECUTOR: 'record' });
  cli = new Cli({ FAIRLEAD_URL: installation.url, FAIRLEAD_KEY: OPERATOR });
});
afterAll(async () => {
  await installation?.stop();
  cli?.remove();
});

/** All that there is in the workspace, with when it was last changed. */
async function everything() {
  const paths = ['/api/v1/datasets', '/api/v1/sessions', '/v2/deployments'];
  const lists = await Promise.all(paths.map((path) => installation.ask('GET', path)));
  const [example, feedback] = await Promise.all(
    ['/api/v1/examples?limit=1', '/api/v1/feedback?limit=1'].map((path) => installation.ask('GET', path)),
  );
  return { lists, example, feedback };
}

/** A service that is cut off after so many requests that change something. */
function cut(after: number): Service {
  let sent = 0;
  const url = (path: string, query = {}) => `${path}?${new URLSearchParams(query).toString()}`;
  return {
    onStep: () => undefined,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    get: (path, query) => installation.ask('GET', url(path, query)),
    async send(method, path, { body, parts } = {}) {
      if (++sent > after) throw new Error('cut off');
      return installation.ask(method, path, parts?.text ?? body, parts && { 'content-type': parts.type });
    },
    upload: () => Promise.reject(new Error('cut off')),
  };
}

it('goes on where it was cut, changes nothing when it is made again, and is removed alone', async () => {
  await installation.ask('POST', '/api/v1/datasets', { name: 'mine', metadata: { made_by: 'me' } });
  await installation.ask('POST', '/api/v1/sessions', { name: 'my project' });
  const own = await installation.ask('POST', '/v2/deployments', {
    ...{ name: 'my-agent', source: 'external_container', source_config: {}, secrets: [] },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
  });
  // Until nothing of it goes on by itself any more.
  await installation.ask('GET', `/v2/deployments/${own.id}/revisions/${own.latest_revision_id}/wait?timeout=60`);
  await until(
    () => installation.ask('GET', '/api/v1/sessions?name=my-agent'),
    (projects: unknown[]) => projects.length === 1,
  );
  const before = await everything();

  await expect(fill(cut(12), storyOf)).rejects.toThrow('cut off');
  const { code, out, err } = await demo();
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/The demo is there, after \d+ s:\n$/) });
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const made = await everything();
  const again = await cli.json<{ dataset: string; experiments: Record<string, string>; deployment: string }>(['demo']);
  expect(await everything()).toEqual(made);

  const { dataset, experiments, deployment } = again;
  const { example_count, baseline_experiment_id } = await installation.ask('GET', `/api/v1/datasets/${dataset}`);
  expect({ example_count, baseline_experiment_id }).toEqual({
    example_count: 300,
    baseline_experiment_id: experiments[BASELINE.name],
  });
  const { resources } = await installation.ask('GET', `/v2/deployments/${deployment}/revisions?include=cause`);
  const [newest, ...others] = resources as { number: number; redeployed_from?: unknown; reason: string }[];
  expect([newest!.number, others.map(({ number }) => number)]).toEqual([4, [3, 2, 1]]);
  expect(newest!.reason).toContain('our policy is 30');

  // What is promised to try can be tried, and shows what the story says.
  const lines = TASKS.map(({ commands }) => commands.join('\n').replace('fairlead', '$FAIRLEAD'));
  const tried = await Promise.all(lines.map((line) => cli.shell(line)));
  expect(tried.map((one) => ({ code: one.code, err: one.code === 0 ? '' : one.err }))).toEqual(
    lines.map(() => ({ code: 0, err: '' })),
  );
  expect(tried[1]!.out).toContain('14 days');
  const [before2, prompt, small, search] = [BASELINE, NEW_PROMPT, SMALL_MODEL, WEB_SEARCH].map(({ name }) => name);
  const compare = ['experiments', 'compare', before2!, prompt!, small!, search!];
  type Result = { verdict: string; difference: number; spread?: number };
  type Compared = {
    keys: { key: string; results: Result[] }[];
    experiments: { error_rate: number }[];
    page: { total: number };
  };
  const compared = await cli.json<Compared>(compare);
  const [correct, cost] = ['correct', 'cost'].map((key) => compared.keys.find((one) => one.key === key)!.results);
  expect(correct!.map(({ verdict }) => verdict)).toEqual([undefined, 'better', 'not clear', expect.any(String)]);
  expect(cost![2]!.verdict).toBe('better');
  expect(correct![3]!.spread).toBeGreaterThan(0);
  expect(compared.experiments.map(({ error_rate }) => error_rate > 0)).toEqual([false, false, false, true]);
  const worse = [...compare.slice(0, 4), '--only', 'worse:correct'];
  const totals = [await cli.json<Compared>(worse), await cli.json<Compared>([...worse, '--find', WORSE_TOPIC])];
  const [all, inTopic] = totals.map(({ page }) => page.total);
  expect(inTopic! / all!).toBeGreaterThan(0.6);

  // An experiment of somebody else on the demo's dataset keeps it.
  const attempt = await installation.ask('POST', '/api/v1/sessions', { name: 'my try', reference_dataset_id: dataset });
  expect(await demo('--remove', '--yes')).toMatchObject({
    code: 0,
    err: expect.stringContaining('Kept "demo: support'),
  });
  await installation.ask('DELETE', `/api/v1/sessions/${attempt.id}`);
  expect((await demo('--remove', '--yes')).code).toBe(0);
  expect(await everything()).toEqual(before);
  expect(await demo('--remove', '--yes')).toMatchObject({ code: 0, err: 'There is no demo here.\n' });
});

it('leaves alone what has a name that it needs', async () => {
  const { id } = await installation.ask('POST', '/api/v1/sessions', { name: 'demo-support-agent' });
  expect(await demo()).toMatchObject({ code: 1, err: expect.stringContaining("that is not the demo's") });
  expect(await installation.ask('GET', `/api/v1/sessions/${id}`)).toMatchObject({ extra: null });
  await installation.ask('DELETE', `/api/v1/sessions/${id}`);
});
