import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import type { Command } from 'commander';
import { operationOf } from './api/description';
import { program } from './program';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { reachedBy } from './table/group';
import { Cli, type Run } from './testing/cli';
import { describeApi, fileText, withoutTexts } from './testing/describe-api';

/** The program as a process, against the whole service. */

const each = (command: Command): Command[] => [command, ...command.commands.flatMap(each)];

/** Routes that no command calls, and why. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  'GET /metrics': 'for a Prometheus server, with a key of its own',
  'GET /docs': 'a page for a browser',
  'POST /v1/console/session': 'for a browser: `console` prints a link',
  'GET /v1/console/session': 'for a browser; `key whoami` tells the same',
  'DELETE /v1/console/session': 'for a browser; `browsers remove` signs one out',
  'GET /docs/{file}': 'a part of that page',
  'GET /v2/auth/start': 'a page for a browser',
  'GET /v2/auth/callback/{provider_id}': 'a page for a browser',
  'POST /v2/auth/callback/{provider_id}': 'called by that page',
  'POST /v1/integrations/{integration_id}/webhook': 'called by a code host',
  'GET /api/v1/tenants': 'another name of `workspace list`',
  'GET /v1/integrations/codehost/install': 'the same integrations as `integrations list`',
  'GET /v1/integrations/managed/codehost/install': 'another name of that',
  'GET /v1/integrations/managed/codehost/{integration_id}/repos': 'another name of `integrations repositories`',
  'GET /api/v1/info/health': 'another name of `service live`',
  'POST /api/v1/datasets/{dataset_id}/runs': 'a page of the web console; `experiments compare` tells the same',
  'POST /api/v1/datasets/{dataset_id}/runs/delta': 'a page of the web console; `experiments compare` tells the same',
  'POST /api/v1/datasets/upload': 'a form of a browser; `examples create-many` takes files',
  'DELETE /api/v1/examples': '`examples delete-many` does the same',
  'POST /api/v1/platform/datasets/{dataset_id}/examples': 'a form with parts; `examples create-many` does the same',
  'PATCH /api/v1/platform/datasets/{dataset_id}/examples': 'a form with parts; `examples patch-many` does the same',
  'POST /api/v1/runs/batch': 'what an SDK sends; `runs create` and `runs patch` do the same',
  'POST /api/v1/runs/multipart': 'what an SDK sends; `runs create` and `runs patch` do the same',
  'POST /v2/runs/query': 'the second version of `runs list`',
  'GET /v2/runs/{run_id}': 'the second version of `runs get`',
  'POST /v2/runs/{run_id}/share': 'the second version of `runs share`',
  'DELETE /v2/runs/{run_id}/share': 'the second version of `runs unshare`',
  'GET /v2/public/{run_token}/run/{run_id}': 'the second version of `shared child`',
  'POST /v2/public/{run_token}/runs/query': 'the second version of `shared runs`',
  'POST /v2/datasets/{dataset_id}/experiment-runs': 'the second version of a page of the web console',
};

const KEY = 'cli-spec-operator-key';
let service: Standalone;
let database: TestDatabase;
let cli: Cli;
const fairlead = (args: string, options?: Run) => cli.run(args.split(' '), options);

beforeAll(async () => {
  cli = new Cli({ FAIRLEAD_KEY: KEY });
  database = await testDatabase([]);
  service = await startStandalone(
    readSettings({
      PORT: '0',
      DATABASE_URL: database.url,
      FAIRLEAD_DATA_DIR: join(cli.folder, 'data'),
      FAIRLEAD_API_KEY: KEY,
      OUTBOUND_ALLOW: '127.0.0.1',
      LOG_LEVEL: 'silent',
      EXECUTOR: 'record',
    }),
  );
  cli.env.FAIRLEAD_URL = service.url;
});
afterAll(async () => {
  await service?.stop();
  await database?.drop();
  cli?.remove();
});

describe('Help', () => {
  it('is there for all and for each command, and for wrong ones', async () => {
    const [all, one, none, wrong] = await Promise.all([
      fairlead('--help'),
      fairlead('experiments compare --help'),
      cli.run([]),
      fairlead('deployments lst'),
    ]);
    expect(all).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^Usage: fairlead .*Exit codes:/s) });
    expect(one.out).toMatch(/--gate <limit>.*Global Options:.*--json.*Limits of --gate:.*Examples:/s);
    expect(none).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^Usage: fairlead/) });
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: unknown command 'lst'.*Did you mean one of list/s),
    });
    expect((await fairlead('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('The API', () => {
  let document: Parameters<typeof describeApi>[0];
  beforeAll(async () => {
    document = (await (await fetch(`${service.url}/openapi.json`)).json()) as typeof document;
  });

  it('is described in api.json as the service describes it: `WRITE_API=1` writes that file anew', () => {
    const described = describeApi(document);
    const file = join(__dirname, '../api.json');
    if (process.env.WRITE_API) writeFileSync(file, fileText(described));
    const kept = JSON.parse(readFileSync(file, 'utf8')) as unknown;
    expect(withoutTexts(kept)).toEqual(withoutTexts(described));
  });

  it('is reached by commands, route by route', () => {
    const reached = new Set(each(program()).flatMap(reachedBy));
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const missing = routes.filter((route) => !reached.has(route) && !(route in WITHOUT_COMMAND));
    expect(missing).toEqual([]);
    expect(Object.keys(WITHOUT_COMMAND).filter((route) => reached.has(route) || !routes.includes(route))).toEqual([]);
  });

  it('has an option for every filter of a list', () => {
    const lists = each(program()).filter(
      (command) => command.name() === 'list' && reachedBy(command)[0]?.startsWith('GET'),
    );
    expect(lists.length).toBeGreaterThan(10);
    for (const command of lists) {
      const { query = [] } = operationOf(reachedBy(command)[0]!);
      const filters = query.filter(({ name }) => !['limit', 'offset', 'count', 'cursor', 'after'].includes(name));
      const options = command.options.filter(({ long }) => long !== '--limit' && long !== '--all');
      expect(`${command.parent!.name()}: ${options.length}`).toBe(`${command.parent!.name()}: ${filters.length}`);
    }
  });
});

describe('The console', () => {
  it('is signed in to by a link that is printed', async () => {
    const { code, out } = await fairlead('console');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^http:\/\/\S+\/login#code=[\w-]{32}\n$/) });
    const response = await fetch(`${service.url}/v1/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ code: out.trim().split('=')[1] }),
    });
    expect(response.status).toBe(200);
  });
});

describe('Resources', () => {
  it('are made by options, files or both, and known by name from then on', async () => {
    const token = ['--set', 'credentials.token=abc', '--base-url', 'https://github.example'];
    const made = await cli.run(['integrations', 'create', '--name', 'hub', '--provider', 'github', ...token]);
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/name +hub\n.*base url +https:\/\/github/s)]);
    const yaml = cli.file('lab.yaml', 'name: lab\nprovider: gitlab\ncredentials:\n  token: abc\n');
    expect(await cli.run(['integrations', 'create', '-f', yaml, '--name', 'lab-2'])).toMatchObject({ code: 0 });
    expect((await fairlead('integrations list')).out).toMatch(/^NAME +PROVIDER .*lab-2 +gitlab .*hub +github /s);
    expect(await fairlead('integrations patch hub --name hub-2')).toMatchObject({ code: 0 });
    expect((await fairlead('integrations get hub-2 --json')).out).toContain('"name":"hub-2"');
    expect((await fairlead('integrations delete hub-2')).err).toContain('Add --yes');
    expect(await fairlead('integrations delete hub-2 --yes')).toMatchObject({ code: 0 });
    expect(await fairlead('integrations get hub-2')).toMatchObject({ code: 5 });
  });

  it.each([
    ['integrations create --name a --provider githab', '--provider'],
    ['integrations create --name a --provider github', '--credentials'],
    ['webhooks create --enabled perhaps --webhook-url https://a.example', '--enabled'],
    ['runs list --limit 0', '--limit'],
    ['runs list --id nobody', '--id'],
    ['datasets create', '--name'],
    ['feedback list --min-created-at soon', '--min-created-at'],
  ])('%s: the option is named', async (line, option) => {
    const { code, err } = await fairlead(line);
    expect([code, err]).toEqual([2, expect.stringContaining(option)]);
  });

  it('refuse misspelt members of files, and name the nearest', async () => {
    const file = cli.file('slip.yaml', 'name: a\nsource_confg: {}\n');
    const { code, err } = await cli.run(['deployments', 'create', '-f', file]);
    expect([code, err]).toEqual([2, expect.stringContaining('no member source_confg. Did you mean source_config?')]);
  });

  it('have webhooks with deliveries that can be sent again', async () => {
    await fairlead('webhooks create --webhook-url http://127.0.0.1:9/hook --event-types * --description ci');
    expect((await fairlead('webhooks list')).out).toMatch(
      /^URL +ENABLED .*http:\/\/127\.0\.0\.1:9\/\*{8}[0-9a-f]{8} +true/s,
    );
    const { id } = await cli.json<{ id: string }>(['webhooks', 'test', 'ci']);
    const [delivery] = await cli.json<{ id: string; event_type: string }[]>(['webhooks', 'deliveries', 'ci']);
    expect(delivery).toMatchObject({ id, event_type: 'webhook.test' });
    expect(await fairlead(`webhooks redeliver ci ${id}`)).toMatchObject({ code: 0 });
    expect(await fairlead('webhooks delete ci --yes')).toMatchObject({ code: 0 });
  });

  it('have datasets with examples, tags and splits, and runs with feedback', async () => {
    expect(await fairlead('datasets create --name sums')).toMatchObject({ code: 0 });
    const rows = cli.file('rows.json', '[]');
    const { id } = await cli.json<{ id: string }>(['datasets', 'get', 'sums']);
    cli.file('rows.json', JSON.stringify([{ dataset_id: id, inputs: { a: 1 }, split: 'test' }]));
    expect(await cli.run(['examples', 'create-many', '-f', rows])).toMatchObject({ code: 0 });
    expect((await fairlead('examples count --dataset sums')).out).toBe('1\n');
    expect((await fairlead('examples list --dataset sums')).out).toMatch(/\{"a":1\} .* sums /);
    expect((await fairlead('datasets splits sums')).out).toContain('test');
    expect(await fairlead('datasets tag sums --as-of latest --tag first')).toMatchObject({ code: 0 });
    expect((await fairlead('datasets versions sums')).out).toMatch(/first/);
    expect(await fairlead('experiments create --name live')).toMatchObject({ code: 0 });
    const run = '019a0000-0000-7000-8000-00000000000a';
    const times = '--start-time 2026-01-01T00:00:00Z --end-time 2026-01-01T00:00:01Z';
    const made = `runs create --id ${run} --trace-id ${run} --dotted-order 20260101T000000000000Z${run} --name first`;
    expect(await fairlead(`${made} --run-type chain --inputs {} --session-name live ${times}`)).toMatchObject({
      code: 0,
    });
    const scored = `feedback create --run-id ${run} --feedback-key correct --score 1 --trace-id ${run}`;
    const sent = await fairlead(scored);
    expect(sent).toMatchObject({ code: 0 });
    for (;;) if ((await fairlead('runs list --session live')).out.includes('first')) break;
    for (;;) if (/correct +1 .* live /.test((await fairlead('feedback list --session live')).out)) break;
  });
});

describe('Keys', () => {
  it('are made, listed, used and revoked', async () => {
    const made = await fairlead('key create --description build --scopes read');
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Made key \S+ \(read\)\. It is shown only now:\n$/),
    });
    const key = made.out.trim();
    const env = { FAIRLEAD_KEY: key };
    const { id } = await cli.json<{ id: string }>(['key', 'whoami'], { env });
    expect((await fairlead('key list')).out).toMatch(new RegExp(`build +read +.*${id}`));
    const refused = await fairlead('deployments create -f -', { env, input: '{}' });
    expect(refused).toMatchObject({ code: 4, err: 'Error: The key lacks the scope write.\n' });
    expect((await fairlead(`key revoke ${id}`)).err).toMatch(/Add --yes/);
    expect(await fairlead(`key revoke ${id} --yes`)).toMatchObject({ code: 0 });
    expect(await fairlead('key whoami', { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining('not accepted'),
    });
  });

  it('of a suspended workspace are refused until it is resumed, and a removed one is gone', async () => {
    const body = JSON.stringify({ display_name: 'shown by the command line' });
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const made = await fetch(`${service.url}/api/v1/workspaces`, { method: 'POST', headers, body });
    const { id } = (await made.json()) as { id: string };
    expect((await fairlead('workspace list')).out).toMatch(new RegExp(`shown by the command line +.*${id}`));
    const suspended = await cli.run(['workspace', 'suspend', id, '--reason', 'they do not pay']);
    expect(suspended).toMatchObject({ code: 0, out: expect.stringMatching(/status +suspended\n/) });
    expect(await fairlead(`deployments list --workspace ${id}`)).toMatchObject({ code: 0 });
    const refused = await cli.run(['deployments', 'create', '-f', '-', '--workspace', id], { input: '{}' });
    expect(refused).toMatchObject({ code: 4, err: expect.stringContaining('This workspace is suspended') });
    expect((await fairlead(`workspace resume ${id}`)).out).toMatch(/status +active\n/);
    expect((await fairlead(`workspace remove ${id}`)).err).toMatch(/Add --yes/);
    expect((await fairlead(`workspace remove ${id} --yes`)).out).toMatch(/status +remov/);
    for (;;) if ((await fairlead(`workspace show ${id}`)).out.match(/status +removed\n/)) break;
  });

  it('are found in the data directory of a local service, or kept for later', async () => {
    const env = { FAIRLEAD_KEY: '', FAIRLEAD_URL: '' };
    writeFileSync(join(cli.folder, 'data/api-key'), KEY);
    expect(await fairlead('key whoami', { env: { FAIRLEAD_KEY: '' } })).toMatchObject({ code: 0 });
    expect(await cli.run(['key', 'save', '--url', `${service.url}/`, '--key', KEY], { env })).toMatchObject({
      code: 0,
    });
    expect(statSync(join(cli.folder, 'config/fairlead/config.json')).mode & 0o777).toBe(0o600);
    const elsewhere = { ...env, FAIRLEAD_DATA_DIR: '/nowhere' };
    expect(await fairlead('key whoami', { env: elsewhere })).toMatchObject({ code: 0 });
  });

  it('of the organisation act in the workspace that is named', async () => {
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const body = JSON.stringify({ display_name: 'Research' });
    await fetch(`${service.url}/api/v1/workspaces`, { method: 'POST', headers, body });
    const { out } = await fairlead('key create --organization --scopes admin');
    const env = { FAIRLEAD_KEY: out.trim() };
    expect(await fairlead('deployments list', { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining('--workspace'),
    });
    expect(await fairlead('deployments list --workspace Research', { env })).toMatchObject({
      code: 0,
      err: 'No deployments.\n',
    });
    expect(await fairlead('deployments list --workspace Nobody', { env })).toMatchObject({ code: 5 });
  });
});

describe('Deployments', () => {
  const image = (tag: string) => `registry.example.com/agent:${tag}`;
  const body = JSON.stringify({
    name: 'agent',
    source: 'external_container',
    source_config: { resource_spec: { cpu: 1 } },
    source_revision_config: { image_uri: image('1') },
    secrets: [{ name: 'TOKEN', value: 'a-secret-value' }],
  });

  interface Deployment {
    readonly id: string;
    readonly latest_revision_id: string;
    readonly source_config: { readonly install_command?: string; readonly build_command?: string };
    readonly source_revision_config: { readonly image_uri: string };
    readonly secrets: readonly object[];
  }
  const get = (more: string[] = []) => cli.json<Deployment>(['deployments', 'get', 'agent', ...more]);

  it('are created, changed, rolled back and deleted by name', async () => {
    const created = await fairlead('deployments create -f - --wait', { input: body });
    expect(created).toMatchObject({ code: 0, err: expect.stringMatching(/: DEPLOYED\n$/) });
    expect(created.out).toContain(image('1'));
    const first = await get();

    const set = [
      '--set',
      `source_revision_config.image_uri=${image('2')}`,
      '--set',
      'source_config.resource_spec.cpu=2',
    ];
    const tried = await cli.run(['deployments', 'patch', 'agent', ...set, '--dry-run']);
    expect([tried.code, tried.out]).toEqual([0, expect.stringContaining(image('2'))]);
    expect((await get()).source_revision_config.image_uri).toBe(image('1'));
    const planned = await cli.run(['deployments', 'patch', 'agent', ...set, '--plan']);
    expect(planned).toMatchObject({ code: 0, err: expect.stringContaining('It makes a revision.') });
    expect(planned.out).toContain(image('2'));
    for (const [slip, member] of [
      ['source_confg.custom_url=https://a.example', 'source_confg'],
      ['source_config.resource_spec.cpus=2', 'source_config.resource_spec.cpus'],
      ['secrets=[{"nam":"A","value":"b"}]', 'secrets.nam'],
    ] as const) {
      const { code, err } = await cli.run(['deployments', 'patch', 'agent', '--set', slip]);
      expect([code, err]).toEqual([2, expect.stringContaining(`--set: there is no member ${member}. Did you mean `)]);
    }
    const same = await cli.run([
      'deployments',
      'patch',
      'agent',
      '--set',
      `source_revision_config.image_uri=${image('1')}`,
    ]);
    expect([same.code, same.err]).toEqual([0, expect.stringContaining('Nothing has changed')]);
    const late = await cli.run(['deployments', 'patch', 'agent', ...set, '--if-match', '1']);
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('has changed')]);
    const patched = await cli.run(['deployments', 'patch', first.id, ...set, '--wait', '--reason', 'größer & 100 %']);
    expect(patched).toMatchObject({ code: 0, err: expect.not.stringContaining('Nothing has changed') });
    const second = await get();

    const diff = (await fairlead(`deployments diff agent ${first.latest_revision_id} ${second.latest_revision_id}`))
      .out;
    expect(diff).toBe(
      [
        ...['source_revision_config.image_uri', `  - ${image('1')}`, `  + ${image('2')}`],
        ...['source_config.resource_spec.cpu', '  - 1', '  + 2', ''],
      ].join('\n'),
    );
    const dry = await fairlead('deployments rollback agent --dry-run');
    expect(dry.err).toContain(
      `Going back from ${second.latest_revision_id} to ${first.latest_revision_id} changes this`,
    );
    expect(await fairlead('deployments rollback agent --wait --reason slow')).toMatchObject({ code: 0 });
    const third = await get();
    expect([third.source_revision_config.image_uri, third.source_config]).toMatchObject([
      image('1'),
      { resource_spec: { cpu: 1 } },
    ]);
    const back = await cli.json<Deployment>(['deployments', 'rollback', 'agent', second.latest_revision_id]);
    expect(back.source_revision_config.image_uri).toBe(image('2'));

    const revisions = await cli.json<{ id: string }[]>(['revisions', 'list', 'agent']);
    expect(revisions.slice(1).map(({ id }) => id)).toEqual(
      [third, second, first].map(({ latest_revision_id }) => latest_revision_id),
    );
    const history = (await fairlead('deployments history agent')).out;
    expect(history).toMatch(/DeploymentPatched +by .*\n +größer & 100 %/);
    expect(history).toMatch(/RevisionCreated +by .*\n +slow/);
    expect((await fairlead('deployments logs agent --follow')).out).toContain('Recorded as deployed');
    expect((await fairlead('deployments get agent --at-version 1')).out).toContain(image('1'));
    expect((await fairlead('deployments health agent')).out).toMatch(
      /^standing +Live, v\d\nstate +RECORDED\n +Recorded, nothing is run\.\ndeployed by +record\n/,
    );
    const stop = await fairlead('deployments stop agent');
    expect(stop).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be stopped: it is recorded, and nothing/),
    });

    expect(await fairlead('deployments delete agent')).toMatchObject({ code: 2 });
    const removal = await fairlead('deployments delete agent --yes --timeout 3600');
    expect(removal).toMatchObject({ code: 0, out: 'Deleted agent.\n' });
    expect(await fairlead('deployments get agent')).toMatchObject({
      code: 5,
      err: 'Error: No deployment is named agent.\n',
    });
  });

  it('are listed, and known by their whole names', async () => {
    for (const name of ['listed-10', 'listed-1', 'listed-11']) {
      await fairlead('deployments create -f - --wait', { input: body.replace('"agent"', `"${name}"`) });
    }
    const list = (...more: string[]) =>
      cli.json<{ name: string }[]>(['deployments', 'list', '--name', 'listed', ...more]);
    expect((await list()).map(({ name }) => name)).toEqual(['listed-11', 'listed-1', 'listed-10']);
    expect(await list('--limit', '2')).toHaveLength(2);
    expect(await list('--status', 'UNUSED')).toEqual([]);
    expect((await fairlead('deployments list')).out).toMatch(
      /^NAME +STATUS .*\nlisted-11 +Live, v1, recorded +external_container/,
    );
    expect((await fairlead('deployments get listed-1')).out).toMatch(/^name +listed-1\n/);
  });

  it('come from a folder, and get a new revision each time', async () => {
    mkdirSync(join(cli.folder, 'source'));
    cli.file('source/agent.py', 'print()');
    const deploy = (...more: string[]) => cli.run(['deploy', 'source', '--name', 'from-folder', ...more]);
    const first = await deploy();
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('Recorded as deployed') });
    expect(first.err).toMatch(
      /Created the deployment from-folder\..*\nDeployed by record: recorded, nothing is run\.\n$/s,
    );
    const { out } = await deploy('--reason', 'release 2', '--json');
    const deployment = JSON.parse(out) as { source: string; executor: string };
    expect(deployment).toMatchObject({ name: 'from-folder', source: 'internal_source', executor: 'record' });
    const revisions = await cli.json<{ status: string }[]>(['revisions', 'list', 'from-folder', '--include', 'cause']);
    expect(revisions).toMatchObject([{ status: 'DEPLOYED', reason: 'release 2' }, { status: 'DEPLOYED' }]);
    const commands = async (...more: string[]) => {
      const { out: text } = await deploy('--json', ...more);
      const { install_command, build_command } = (JSON.parse(text) as Deployment).source_config;
      return [install_command, build_command];
    };
    expect(await commands('--install-command', 'make deps', '--build-command', 'make all')).toEqual([
      ...['make deps', 'make all'],
    ]);
    expect(await commands('--build-command', '')).toEqual(['make deps', '']);
    const open = await fairlead('deployments open from-folder');
    expect(open).toMatchObject({ code: 1, err: expect.stringContaining('from-folder has no address') });
    await cli.run(['deployments', 'patch', 'from-folder', '--set', 'source_config.custom_url=https://agent.example']);
    expect(await fairlead('deployments open from-folder')).toMatchObject({ code: 0, out: 'https://agent.example\n' });
  });

  it('come from a folder with gates that hold them', async () => {
    mkdirSync(join(cli.folder, 'gated'));
    cli.file('gated/agent.py', 'print()');
    const { id } = await cli.json<{ id: string }>(['datasets', 'create', '--name', 'gated questions']);
    const gate = { name: 'questions', dataset_id: id, keys: { correct: { min_mean: 0.9 } } };
    cli.file('gates.json', JSON.stringify([gate]));
    const deploy = (...more: string[]) => cli.run(['deploy', 'gated', ...more]);
    expect(await deploy('--gates', 'gates.json')).toMatchObject({
      code: 7,
      err: expect.stringMatching(/is held by its gates: .*No experiment on the dataset names the revision\./s),
    });
    // Without the option they stay.
    expect((await deploy()).code).toBe(7);
    cli.file('none.json', JSON.stringify({ gates: [] }));
    expect(await deploy('--gates', 'none.json')).toMatchObject({
      code: 4,
      err: expect.stringContaining('scope admin'),
    });
    expect((await deploy('--gates', 'none.json', '--reason', 'a trial')).code).toBe(0);
    cli.file('wrong.json', JSON.stringify([{ ...gate, dataset: id }]));
    expect(await deploy('--gates', 'wrong.json')).toMatchObject({
      code: 2,
      err: expect.stringContaining('wrong.json: there is no member gates.dataset.'),
    });
  });

  it('come from a folder whose files are listed before anything is sent', async () => {
    mkdirSync(join(cli.folder, 'unsent'));
    cli.file('unsent/agent.py', 'print()');
    cli.file('unsent/.env', 'KEY=1');
    cli.file('unsent/.gitignore', '*.log');
    cli.file('unsent/a.log', '');
    const deploy = ['deploy', 'unsent', '--dry-run'];
    const listed = await cli.run(deploy);
    expect(listed.out).toBe(
      '+ .gitignore\n+ agent.py\n- .env  (never part of a source)\n- a.log  (.gitignore: *.log)\n',
    );
    expect(listed).toMatchObject({ code: 0, err: expect.stringMatching(/2 files of .*Nothing was sent\.\n$/) });
    expect(await cli.json([...deploy])).toEqual({
      files: ['.gitignore', 'agent.py'],
      left_out: [
        { path: '.env', because: 'never part of a source' },
        { path: 'a.log', because: '.gitignore: *.log' },
      ],
      bytes: 12,
    });
    expect(await cli.json(['deployments', 'list', '--name', 'unsent'])).not.toContainEqual(
      expect.objectContaining({ name: 'unsent' }),
    );
    for (const [config, said] of [
      ['nope.json', 'there is no file nope.json in '],
      ['../outside.json', 'there is no file ../outside.json in '],
      ['a.log', 'a.log is left out (.gitignore: *.log).'],
    ]) {
      const wrong = await cli.run(['deploy', 'unsent', '--config', config!]);
      expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining(`Error: --config: ${said}`) });
    }
  });

  it('have secrets that are set and removed one by one', async () => {
    await fairlead('deployments create -f -', { input: body.replace('"agent"', '"with-secrets"') });
    const names = async () => (await fairlead('secrets list with-secrets')).out;
    expect(await names()).toBe('TOKEN\n');
    const input = "# of the agent\nMODEL_KEY='a#b'  # why\nHASH=abc#def\nEMPTY=\n";
    const set = await fairlead('secrets set with-secrets A=1=2 -f - --wait', { input });
    expect(set).toMatchObject({ code: 0, out: expect.stringMatching(/secrets +TOKEN, .*MODEL_KEY.*, A\n/) });
    const shown = await cli.json<{ secrets: { name: string; value: string }[] }>([
      ...['deployments', 'get', 'with-secrets', '--show-secrets'],
    ]);
    expect(new Map(shown.secrets.map(({ name, value }) => [name, value]))).toEqual(
      new Map(Object.entries({ TOKEN: 'a-secret-value', MODEL_KEY: 'a#b', HASH: 'abc#def', EMPTY: '', A: '1=2' })),
    );
    expect(await fairlead('secrets unset with-secrets TOKEN EMPTY')).toMatchObject({ code: 0 });
    expect(await names()).toBe('MODEL_KEY\nHASH\nA\n');
    const missing = await fairlead('secrets unset with-secrets TOKEN');
    expect(missing).toMatchObject({ code: 2, err: 'Error: with-secrets has no secret TOKEN.\n' });
    expect(await fairlead('secrets set with-secrets')).toMatchObject({ code: 2 });
    expect(await fairlead('secrets set with-secrets =1')).toMatchObject({ code: 2 });
    const wrong = await fairlead('secrets set with-secrets -f -', { input: 'B=1\nno assignment' });
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: Standard input, line 2: there is no =/),
    });
    expect(await names()).toBe('MODEL_KEY\nHASH\nA\n');
  });

  it('keep the values of their secrets to themselves unless asked', async () => {
    await fairlead('deployments create -f -', { input: body });
    const values = async (more: string[]) => (await get(more)).secrets;
    expect(await values([])).toEqual([{ name: 'TOKEN', value: '********' }]);
    expect(await values(['--show-secrets'])).toEqual([{ name: 'TOKEN', value: 'a-secret-value' }]);
    const revealed = await cli.run(['deployments', 'reveal', 'agent', 'TOKEN', '--reason', 'to move it']);
    expect(revealed).toMatchObject({ code: 0, out: 'a-secret-value\n' });
    expect((await fairlead('deployments history agent')).out).toMatch(/SecretsRead.*\n +to move it\n +read: TOKEN\n/);
  });

  it('are rolled back with the secrets of then or, with --keep-secrets, with those of now', async () => {
    const first = (
      await cli.json<Deployment>(['deployments', 'create', '-f', '-'], {
        input: JSON.stringify({ ...(JSON.parse(body) as object), name: 'rotated' }),
      })
    ).latest_revision_id;
    const secrets = 'secrets=[{"name":"TOKEN","value":"newer"}]';
    await cli.run(['deployments', 'patch', 'rotated', '--set', secrets, '--wait']);
    const rollback = (more: string) => fairlead(`deployments rollback rotated ${first} ${more}`);
    const warning = 'Warning: The secret TOKEN is newer than the revision';
    for (const more of ['--plan', '--dry-run']) expect((await rollback(more)).err).toContain(warning);
    const keeping = await rollback('--keep-secrets --plan');
    expect(keeping).toEqual({
      code: 0,
      err: expect.not.stringContaining('Warning'),
      out: expect.not.stringContaining('secrets.TOKEN'),
    });
    expect(await rollback('--keep-secrets')).toMatchObject({ code: 0, err: expect.not.stringContaining('Warning') });
    const value = async () => (await cli.json<Deployment>(['deployments', 'get', 'rotated', '--show-secrets'])).secrets;
    expect(await value()).toEqual([{ name: 'TOKEN', value: 'newer' }]);
    expect(await rollback('--wait')).toMatchObject({ code: 0, err: expect.stringContaining(warning) });
    expect(await value()).toEqual([{ name: 'TOKEN', value: 'a-secret-value' }]);
    await fairlead('deployments delete rotated --yes');
  });

  it.each([
    ['deployments create -f missing.json', '', 'missing.json cannot be read: it does not exist'],
    ['deployments create -f -', '{"name":', 'Standard input is not JSON'],
    ['deployments create -f -', '[]', 'must hold a JSON object'],
    ['deployments patch agent', '', 'Give the changes with --set, --file or options'],
    ['deployments rollback agent first', '', '"first" is no id of a revision'],
    ['deployments diff agent first second', '', '"first" is no id of a revision'],
    ['deployments wait agent --revision first', '', '"first" is no id of a revision'],
    ['deployments logs agent --revision first', '', '"first" is no id of a revision'],
    ['revisions interrupt agent first', '', '"first" is no id of a revision'],
    ['deployments list --limit 0', '', 'whole number'],
    ['deployments list --timeout soon', '', 'number of seconds'],
  ])('%s with %j is a mistake in the command line', async (args, input, message) => {
    const { code, err } = await fairlead(args, { input });
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('Experiments', () => {
  const question = (i: number) => `"What is ""${i}""\nin words?"`;
  const csv = (good: (i: number) => boolean) =>
    '\ufeffprompt,answer,scores.correct,scores.cost,latency,note\r\n' +
    Array.from({ length: 60 }, (_, i) => `${question(i)},answer ${i},${Number(good(i))},0.${i % 10},1.5,n\r\n`).join(
      '',
    );
  const map = ['--dataset', 'numbers', '--map', 'prompt=inputs.question', '--map', 'answer=actual_outputs.answer'];

  interface Uploaded {
    readonly dataset: { readonly id: string };
    readonly experiment: { readonly id: string; readonly run_count: number; readonly feedback_stats: object };
  }
  const upload = (name: string, text: string, ...more: string[]) =>
    cli.json<Uploaded>(['experiments', 'upload', cli.file(name, text), ...map, ...more]);

  let good: Uploaded;
  beforeAll(async () => {
    good = await upload(
      'good.csv',
      csv(() => true),
      '--metadata',
      'model=a',
      '--metadata',
      'seed=1',
    );
    await upload(
      'bad.csv',
      csv((i) => i % 2 > 0),
    );
  });

  it('are uploaded from CSV and read back as they were', async () => {
    expect(good.experiment).toMatchObject({
      name: 'good',
      run_count: 60,
      latency_p50: 1.5,
      extra: { metadata: { model: 'a', seed: 1 } },
      feedback_stats: { correct: { n: 60, avg: 1 } },
    });
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const body = JSON.stringify({ session: [good.experiment.id], limit: 100 });
    const answer = await fetch(`${service.url}/api/v1/runs/query`, { method: 'POST', headers, body });
    const { runs } = (await answer.json()) as { runs: { inputs: { question: string } }[] };
    expect(runs.map(({ inputs }) => inputs.question).sort()[0]).toBe('What is "0"\nin words?');
    const shown = await fairlead('experiments get good');
    expect(shown.out).toMatch(/runs +60, 0 % with errors\nlatency +p50 1\.5 s.*\ncorrect +1 \(60 of 60 scored\)/s);
    const listed = await fairlead('experiments list --dataset numbers');
    expect(listed.out).toMatch(/bad .*60 .*correct 0\.5.*\ngood .*60 .*correct 1,/s);
    expect((await fairlead('datasets list --name number')).out).toMatch(/numbers +60 +2 /);
  });

  it('are compared row by row, although nothing but the questions says which rows are the same', async () => {
    const { code, out } = await fairlead('experiments compare good bad --rows 1 --lower-is-better cost');
    expect(code).toBe(0);
    expect(out).toMatch(/correct +good +1 +60 of 60\n +bad +0\.5 +60 of 60 +-0\.5 .*<0\.0001 +▼ worse +0 +30 +30\n/);
    expect(out).toMatch(/cost \(lower is better\)/);
    expect(out).toMatch(/Worst regressions\n1 +\{"question":"What is .*\n +good .*correct 1.*\n +bad .*correct 0/);
    const json = await cli.json<{ keys: { key: string }[] }>([
      'experiments',
      'compare',
      'good',
      'bad',
      '--score',
      'cost',
    ]);
    expect(json.keys.map(({ key }) => key)).toEqual(['cost']);
    expect((await fairlead('experiments compare good')).err).toContain('two experiments at least');
    const unknown = await fairlead('experiments compare good bad --measures errors');
    expect(unknown.err).toMatch(/Slices were not compared: .*latency.*tokens.*cost/s);
    expect((await fairlead('experiments compare good bad --measures cost --measures tokens')).err).toBe('');
  });

  it('are reported in Markdown, as the console copies it, with a link to its page', async () => {
    const { code, out, err } = await fairlead('experiments compare good bad --markdown --gate correct>=-0.02');
    expect(code).toBe(1);
    const lines = out.split('\n');
    expect(lines[0]).toBe('## bad against good on numbers');
    expect(lines[2]).toMatch(
      /^\d{4}-\d\d-\d\d · \[comparison\]\(http:.*\/o\/-\/datasets\/.*\/compare\?selectedSessions=.*,.*\) · 2 experiments · 60 rows$/,
    );
    expect(out).toContain('\n- **bad**: worse on correct (−50 points)');
    expect(out).toMatch(/\nWorst rows, as a share of the range of the score:\n\n- 1 worse: What is .*\?.* \(\w{8}\)\n/);
    expect(out).toContain('\n| correct | bad | 0.5 | worse: −50 points (');
    expect(err).toContain('Gate failed:');
    expect((await fairlead('experiments compare good bad --markdown --json')).err).toContain('prints no JSON');
  });

  it('pass a gate or fail it', async () => {
    const gate = (names: string, ...limits: string[]) =>
      cli.run(['experiments', 'compare', ...names.split(' '), ...limits.flatMap((limit) => ['--gate', limit])]);
    const failed = await gate('good bad', 'correct>=-0.02', 'mean(correct)>=0.6', 'error_rate<=1%');
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/Gate failed:\n.*significantly worse.*less than 0\.6.*worse by 0\.5, more than 0\.02/s);
    expect(await gate('bad good', 'correct>=0.4')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Gate passed\.\n$/),
    });
    expect((await gate('good bad', 'correct<=0.1')).code).toBe(2);
    const regression = await fairlead('experiments compare good bad --fail-on-regression --json');
    expect([regression.code, JSON.parse(regression.out)]).toMatchObject([
      1,
      { comparison: { rows: 60 }, gate: { outcome: 'fail', pass: false } },
    ]);
    const allowed = 'experiments compare good bad --gate correct>=-0.6 --allow-significant-regressions';
    expect(await fairlead(allowed)).toMatchObject({ code: 0 });
  });

  it('that say what they used are listed, compared and limited by it, and followed', async () => {
    const used = (name: string, tokens: number) => {
      const usage = `"{""total_tokens"":${tokens},""total_cost"":0.5}"`;
      const lines = Array.from({ length: 12 }, (_, i) => `"used ${i}",x,${usage},${i % 2}\n`);
      return upload(name, `prompt,answer,run_metadata.usage_metadata:json,scores.even\n${lines.join('')}`);
    };
    await used('few.csv', 10);
    await used('many.csv', 30);
    expect((await fairlead('experiments get few')).out).toMatch(/used +120 tokens, cost 6\n/);
    expect((await fairlead('experiments list --dataset numbers')).out).toMatch(/TOKENS +COST.*many .* 360 +6 /s);
    const compare = (...more: string[]) => cli.run(['experiments', 'compare', 'few', 'many', ...more]);
    const table = /USED BY A RUN.*tokens +few +10 +12 of 12\n +many +30 +12 of 12 +\+20 .*▼ worse +0 +12 +0\n/s;
    expect((await compare()).out).toMatch(table);
    const failed = await compare('--gate', 'increase(tokens)<=5', '--gate', 'average(cost)<=0.5');
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('increase of tokens is 20, more than 5')]);
    expect((await compare('--gate', 'average(tokens)<=30', '--gate', 'known(tokens)>=95%')).code).toBe(0);
    expect((await compare('--gate', 'increase(cost)>=1')).code).toBe(2);
    const mixed = await fairlead('experiments compare good few --gate increase(cost)<=1');
    expect([mixed.code, mixed.out]).toEqual([6, expect.stringContaining('increase of cost is not known')]);
    const [trend, cost] = await Promise.all([
      fairlead('experiments trend numbers --score even --limit 2'),
      cli.json<{ name: string; mean: number }[]>(['experiments', 'trend', 'numbers', '--measure', 'tokens']),
    ]);
    expect(trend.out).toMatch(/EXPERIMENT .*MEAN +95 % +RERUN.* 12 +0\.5 +±0\.25 +- +─+●─+\n/s);
    expect(cost.map(({ name, mean }) => `${name} ${mean}`).sort()).toEqual([
      'bad null',
      'few 10',
      'good null',
      'many 30',
    ]);
    expect((await fairlead('experiments trend numbers')).code).toBe(2);
    for (const name of ['few', 'many']) await fairlead(`experiments delete ${name} --yes`);
  });

  it('belong to the revisions that they name, which are shown and followed with them', async () => {
    const source_revision_config = { image_uri: 'registry.example/scored:1' };
    const made = await cli.json<{ latest_revision_id: string }>(['deployments', 'create', '-f', '-'], {
      input: JSON.stringify({
        name: 'scored',
        source: 'external_container',
        source_config: {},
        source_revision_config,
        secrets: [],
      }),
    });
    await fairlead('deployments wait scored');
    expect((await fairlead('deployments scores scored')).out).toMatch(/REVISION .*\nv1 +nothing yet +-/s);
    const rowsOf = (right: number) =>
      Array.from({ length: 12 }, (_, i) => `"scored ${i}",x,${Number(i < right)}\n`).join('');
    const of = ['--metadata', `revision_id=${made.latest_revision_id}`];
    for (const right of [9, 6])
      await upload(`right-${right}.csv`, `prompt,answer,scores.even\n${rowsOf(right)}`, ...of);
    const table = /(?:v1|[0-9a-f-]{36}) +2 experiments +24 +0 % .*even 0\.625 \(24\)/s;
    expect((await fairlead('deployments scores scored --dataset numbers')).out).toMatch(table);
    const again = await fairlead(`deployments rollback scored ${made.latest_revision_id} --plan`);
    expect(again.out).toMatch(table);
    const trend = await fairlead('deployments trend scored --dataset numbers --score even');
    expect(trend.out).toMatch(/REVISION .*MEAN +95 % +RERUN.*\nv1 .* 12 +0\.625 +±0\.\d+ +±0\.\d+ +─+●─+\n/s);
    expect((await fairlead('deployments trend scored --dataset numbers')).code).toBe(2);
    expect((await fairlead('deployments scores scored --limit 51')).code).toBe(2);
    for (const name of ['right-9', 'right-6']) await fairlead(`experiments delete ${name} --yes`);
    await fairlead('deployments delete scored --yes');
  });

  it('with labels are counted, compared by the values of these, held to limits and filtered', async () => {
    const graded = (name: string, good: (row: number) => boolean) =>
      upload(
        name,
        `prompt,answer,scores.grade\n${Array.from({ length: 12 }, (_, i) => `"grade ${i}",x,${good(i) ? 'C' : 'I'}\n`).join('')}`,
      );
    await graded('graded.csv', () => true);
    await graded('regraded.csv', (i) => i > 8);
    const compare = (...more: string[]) => cli.run(['experiments', 'compare', 'graded', 'regraded', ...more]);
    const plain = await compare('--fail-on-regression', '--only', 'C -> *:grade', '--rows', '20');
    expect([plain.code, plain.out]).toEqual([
      6,
      expect.stringMatching(/grade +graded .* C 12, I 0\n +regraded +0\.0039 +≠ changed +3 +9 +C 3, I 9 +C → I 9\n/),
    ]);
    expect(plain.out).toMatch(/Rows\n.* +regraded +\{"answer":"x"\} +grade I\n.*Gate undecided:\n.*no order/s);
    expect(plain.out.match(/ regraded .* grade I\n/g)).toHaveLength(9);
    const values = ['--label-values', 'grade:C=1,I=0'];
    const valued = await compare(...values, '--gate', 'grade>=-0.02');
    expect([valued.code, valued.out]).toEqual([
      1,
      expect.stringMatching(
        /grade +graded +1 .*▼ worse +0 +9 +3\n.*C \(1\) 12, I \(0\) 0.*worse by 0\.75, more than 0\.02/s,
      ),
    ]);
    expect((await compare('--gate', 'share(grade=C)>=80%')).code).toBe(1);
    expect((await compare('--gate', 'share(grade=C)>=20%', '--gate', 'change(grade=C)>=-80%')).code).toBe(0);
    const exported = await cli.run(['experiments', 'export', 'graded', 'regraded', '--rows', 'worse:grade', ...values]);
    expect(exported.out.trim().split('\n')).toHaveLength(10);
    for (const name of ['graded', 'regraded']) await fairlead(`experiments delete ${name} --yes`);
  });

  it('are exported, to a file or to standard output', async () => {
    const { out } = await fairlead('experiments export good bad --format jsonl');
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).experiments),
    ).toHaveLength(60);
    expect(await fairlead('experiments export good bad -o out.csv')).toMatchObject({ code: 0, out: '' });
    expect(cli.read('out.csv')).toMatch(/^example_id,.*\r\n/);
    expect(await fairlead('experiments export good bad -o none/out.csv')).toMatchObject({ code: 2 });
  });

  it('are uploaded from JSON Lines on standard input', async () => {
    const lines = [
      { inputs: { a: 1 }, scores: { ok: true } },
      { inputs: { a: 2 }, error: 'failed' },
    ];
    const input = lines.map((line) => JSON.stringify(line)).join('\n');
    const args = 'experiments upload - --format jsonl --dataset piped --experiment-name piped';
    expect((await fairlead(args, { input })).out).toMatch(/runs +2, 50 % with errors/);
  });

  it('are shown with the spread of their repetitions, as runs of rows', async () => {
    const input = 'row_id,inputs.a,scores.s\nq-1,1,1\nq-1,1,0\nq-2,2,0\n';
    const args = 'experiments upload - --format csv --dataset repeated --experiment-name repeated';
    expect((await fairlead(args, { input })).out).toMatch(/runs +3, 0 % with errors/);
    const { out } = await fairlead('experiments get repeated');
    expect(out).toMatch(/runs +3 of 2 rows, 0 % with errors\n(.*\n)*s +0\.3333 ± 0\.7071 \(3 of 3 scored\)/);
    expect((await fairlead('datasets csv repeated')).out).toMatch(/\nq-1,.*\nq-2,/s);
  });

  describe('with rows that failed', () => {
    const start = 'row_id,inputs.a,scores.s,error,note\n';
    const first = `${start}q-1,1,1,,\nq-2,2,,it broke,\nq-3,3,,it broke,\n`;
    const into = (text: string, ...more: string[]) =>
      cli.run(['experiments', 'upload', cli.file('again.csv', text), '--into', 'broken', ...more]);
    beforeAll(async () => {
      const { code } = await cli.run(['experiments', 'upload', cli.file('broken.csv', first), '--dataset', 'broken']);
      expect(code).toBe(0);
    });

    it('are told of --into when they are uploaded again', async () => {
      const changed = cli.file('broken.csv', first.replace('it broke', 'again'));
      const { code, err } = await cli.run(['experiments', 'upload', changed, '--dataset', 'broken']);
      expect([code, err]).toEqual([1, expect.stringContaining('fill its failed rows with --into')]);
    });

    it('are filled by none of the rows when one cannot be, which is named with its line', async () => {
      const { code, err } = await into(`${start}q-2,2,1,,\nq-1,1,1,,\nq-9,9,1,,\n`);
      expect(code).toBe(2);
      expect(err).toMatch(/row 2 \(line 3\): .*did not fail.*\n.*row 3 \(line 4\): .*no such row/s);
      expect((await into(`${start}q-2,2,1,,n\n`, '--strict')).code).toBe(2);
      expect((await into(`${start}q-2,2,1,,\n`, '--description', 'other')).err).toContain('experiment_description');
      expect((await fairlead('experiments get broken')).out).toMatch(/runs +3, 66\.\d+ % with errors/);
      const missing = await cli.run(['experiments', 'upload', join(cli.folder, 'again.csv'), '--into', 'nowhere']);
      expect(missing.code).toBe(5);
    });

    it('are filled by name and by id, and keep the runs before', async () => {
      const filled = await into(`${start}q-2,2,1,,\n`);
      expect([filled.code, filled.err]).toEqual([0, expect.stringContaining('1 row filled.')]);
      expect(filled.out).toMatch(/experiment +broken\n(.*\n)*runs +3, 33\.\d+ % with errors/);
      const { id } = await cli.json<{ id: string }>(['experiments', 'get', 'broken']);
      const file = cli.file('last.csv', `${start}q-3,3,1,,left out\n`);
      const at = '2026-01-01T00:00:00Z';
      for (const more of [['--no-wait'], []]) {
        const args = ['experiments', 'upload', file, '--into', id, '--start', at, '--end', at, ...more];
        const sent = await cli.json<object>(args);
        expect(sent).toMatchObject({ experiment: { id }, filled_rows: 1, left_out: { columns: { note: 1 } } });
      }
      expect((await fairlead('experiments get broken')).out).toMatch(/runs +3, 0 % with errors/);
      const { resources } = await cli.json<{ resources: object[] }>(['experiments', 'replaced-runs', 'broken']);
      expect(resources).toHaveLength(2);
    });
  });

  it('are uploaded from JSON as it is, once however often it is sent', async () => {
    const body = {
      experiment_name: 'whole',
      dataset_name: 'whole',
      experiment_start_time: '2026-01-01T00:00:00Z',
      experiment_end_time: '2026-01-01T00:00:00Z',
      results: [],
    };
    const file = cli.file('whole.json', JSON.stringify(body));
    const args = ['experiments', 'upload', file, '--no-gzip'];
    const first = await cli.json<Uploaded>([...args, '--no-wait']);
    expect((await cli.json<Uploaded>([...args, '--no-wait'])).experiment.id).toBe(first.experiment.id);
    expect((await cli.run([...args, '--dataset', 'd'])).err).toContain('--dataset is for rows in CSV');
  });

  it('with faults are refused with the lines of the file', async () => {
    const text = csv(() => true);
    for (const [faulty, said] of [
      [text.replace('answer 40,1,', 'answer 40,1e400,'), 'row 41 (line 82), column scores.correct: 1e400 is no finite'],
      [text.replace(/1\.5,n\r\n$/, '-1,n\r\n'), 'row 60 (line 120), column latency: latency is -1'],
    ] as const) {
      const refused = await cli.run(['experiments', 'upload', cli.file('faulty.csv', faulty), ...map]);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(said)]);
    }
    const times = 'inputs.a,start_time\n1,2026-01-01\n"2\n",never\n3,later\n';
    const { code, err } = await cli.run([
      'experiments',
      'upload',
      cli.file('times.csv', times),
      '--dataset',
      'numbers',
    ]);
    expect(code).toBe(2);
    expect(err).toMatch(
      /row 2 \(line 3\): results\[1\]\.start_time: .*\n.*row 3 \(line 5\): results\[2\]\.start_time: /s,
    );
    const again = await cli.run(['experiments', 'upload', join(cli.folder, 'good.csv'), ...map]);
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringMatching(/An experiment named good exists already.*--experiment-name/),
    ]);
  });

  it.each([
    [['results.txt'], 'results.txt', /--format/],
    [['missing.csv', '--dataset', 'd'], '', /cannot be read: it does not exist/],
    [['named.csv'], 'inputs.a\n1\n', /--dataset/],
    [['-', '--format', 'csv', '--dataset', 'd'], 'inputs.a\n1\n', /--experiment-name/],
  ])('upload %j is a mistake in the command line', async (args, text, message) => {
    if (!/^(-|missing)/.test(args[0]!)) cli.file(args[0]!, text);
    const { code, err } = await cli.run(['experiments', 'upload', ...args], { input: text });
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });

  it('are uploaded from an array of rows and from gzip, and say what they leave out', async () => {
    const rows = [
      { q: 1, a: 'x', ok: true, note: 'n' },
      { q: 2, a: 'y', ok: 'N/A', note: null },
    ];
    const packed = join(cli.folder, 'packed.json.gz');
    writeFileSync(packed, gzipSync(JSON.stringify(rows, null, 2)));
    const flags = ['q=inputs.q', 'a=actual_outputs.a', 'ok=scores.ok'].flatMap((one) => ['--map', one]);
    const send = (...more: string[]) =>
      cli.run(['experiments', 'upload', packed, '--dataset', 'packed', ...flags, ...more]);
    const strict = await send('--strict');
    expect([strict.code, strict.err]).toEqual([
      2,
      expect.stringMatching(/note \(1 value\).*ok \(1 × N\/A\).*--strict/s),
    ]);
    expect((await fairlead('experiments get packed')).code).toBe(5);
    const sent = await send();
    expect(sent.out).toMatch(/experiment +packed\n/);
    expect(sent.err).toMatch(/Warning: .*note \(1 value\).*\nWarning: .*ok \(1 × N\/A\)/);
    const left_out = { columns: { note: 1 }, scores: { ok: { 'N/A': 1 } }, warnings: [] };
    for (const more of [[], ['--no-wait']]) {
      const json = ['--json', '--experiment-name', `packed ${more.length}`, ...more];
      expect(JSON.parse((await send(...json)).out)).toMatchObject({ experiment: {}, left_out });
    }
    const { code, out } = await fairlead(
      'experiments upload - --format json --dataset packed --experiment-name piped2 --map q=inputs.q',
      {
        input: JSON.stringify(rows),
      },
    );
    expect([code, out]).toEqual([0, expect.stringMatching(/runs +2,/)]);
  });

  it.each([
    ['book.xlsx', 'PK', /Known are CSV .*\.gz/],
    ['text.json', 'hello', /neither a JSON object nor an array\. Known are/],
    ['plain.csv.gz', 'inputs.a\n1\n', /is not gzip/],
    ['cut.csv.gz', gzipSync('inputs.a\n1\n').subarray(0, 15), /is broken gzip/],
  ])('of an unknown form are refused: %s', async (name, content, message) => {
    writeFileSync(join(cli.folder, name), content);
    const { code, err } = await fairlead(`experiments upload ${name} --dataset d`);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });

  it('must be UTF-8', async () => {
    writeFileSync(join(cli.folder, 'excel.csv'), Buffer.from('\ufeffinputs.a\r\n1\r\n', 'utf16le'));
    const { code, err } = await fairlead('experiments upload excel.csv --dataset d');
    expect([code, err]).toEqual([2, expect.stringContaining('is not UTF-8')]);
  });

  it.each([
    ['broken.csv', 'inputs.a\n"1\n', /The CSV is broken/],
    ['none.csv', 'inputs.a\n', /no rows/],
    ['broken.jsonl', '{"inputs":{}}\n{', /row 2 \(line 2\): it is not JSON/],
    ['without.jsonl', '{"scores":{}}', /it has no inputs/],
  ])('must be in order: %s', async (name, text, message) => {
    cli.file(name, text);
    const { code, err } = await fairlead(`experiments upload ${name} --dataset d`);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

it('says in one line that a key file cannot be read', async () => {
  const folder = join(cli.folder, 'locked');
  mkdirSync(join(folder, 'api-key'), { recursive: true });
  chmodSync(folder, 0o700);
  const env = { FAIRLEAD_KEY: '', FAIRLEAD_DATA_DIR: folder, XDG_CONFIG_HOME: folder };
  expect(await fairlead('key whoami', { env })).toMatchObject({
    code: 4,
    err: expect.stringContaining('cannot be read: it is a folder'),
  });
});

describe('Short ways', () => {
  it('tell the key, the versions and the state of the service', async () => {
    expect((await fairlead('whoami')).out).toContain(`address      ${service.url}\n`);
    const versions = await cli.json<{ program: string; service: string }>(['version']);
    expect(versions.program).toMatch(/^\d+\.\d+\.\d+$/);
    expect((await fairlead('version --jq .service')).out).toBe(`${versions.service}\n`);
    const status = await fairlead('status');
    expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/service +\S+, ready\n/) });
    expect(await cli.json(['status'])).toMatchObject({ url: service.url, ready: true, reasons: [] });
    expect((await fairlead('open')).out).toMatch(/^http.*\/login#code=/);
  });

  it('lead to a deployment as the longer ones do', async () => {
    const image = 'source_revision_config.image_uri=registry.example/a:1';
    const create = ['deployments', 'create', '--name', 'short', '--source', 'external_container', '--set', image];
    expect(await cli.run([...create, '--wait'])).toMatchObject({ code: 0 });
    for (const [short, long] of [
      ['status short', 'deployments health short'],
      ['logs short', 'deployments logs short'],
      ['open short', 'deployments open short'],
    ]) {
      expect(await fairlead(short!)).toEqual(await fairlead(long!));
    }
    expect((await fairlead('completion names deployment sh')).out).toBe('short\n');
    const offline = { env: { FAIRLEAD_URL: 'http://127.0.0.1:9' } };
    expect(await fairlead('completion names deployment sh', offline)).toEqual({ code: 0, out: '', err: '' });
  });

  it('send any request, and filter what comes', async () => {
    const listed = await fairlead('api get /v2/deployments -q limit=1 -q name=short --jq .resources[].name');
    expect(listed).toEqual({ code: 0, out: 'short\n', err: '' });
    const made = await fairlead('api POST /api/v1/datasets --set name=by-hand --reason trial --jq .id');
    const id = made.out.trim();
    const changed = await fairlead(`api PATCH /api/v1/datasets/${id} -f -`, { input: 'description: by hand' });
    expect(JSON.parse(changed.out)).toMatchObject({ description: 'by hand' });
    expect(await fairlead(`api DELETE /api/v1/datasets/${id}`)).toMatchObject({ code: 0 });
    expect(await fairlead(`api GET /api/v1/datasets/${id}`)).toMatchObject({ code: 5 });
    expect((await fairlead('api GET /docs')).out).toContain('<html');
    expect(await fairlead('deployments list --all --jq .[0].id+1')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Error: --jq \.\[0\]\.id\+1: .*cannot be added/),
    });
  });

  it('keep an address and a key, and forget them', async () => {
    const own = { XDG_CONFIG_HOME: join(cli.folder, 'login'), FAIRLEAD_DATA_DIR: join(cli.folder, 'nowhere') };
    const env = { FAIRLEAD_URL: '', FAIRLEAD_KEY: '', ...own };
    const wrong = await cli.run(['login', service.url], { env, input: 'no-key-of-this-service' });
    expect(wrong).toMatchObject({ code: 4, err: expect.stringContaining('The key is not accepted') });
    expect(await cli.run(['whoami'], { env })).toMatchObject({ code: 4 });
    expect(await cli.run(['login', service.url], { env, input: `${KEY}\n` })).toMatchObject({ code: 0 });
    expect((await cli.run(['whoami'], { env })).out).toContain(service.url);
    expect((await cli.run(['logout'], { env })).out).toBe(`Forgot the key for ${service.url}.\n`);
    expect((await cli.run(['logout'], { env })).out).toBe('No key was kept.\n');
    expect(await cli.run(['whoami'], { env })).toMatchObject({
      code: 4,
      err: expect.stringContaining('fairlead login'),
    });
  });
});
