import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { installedProgram, installedPythonProgram, run, type Said } from '../testing/langgraph-cli';

/** The deploy clients of the incumbent, unmodified: they are given the address of the service and a key. */

const MISSING = '019a0000-0000-7000-8000-000000000000';

const program = installedProgram();
const describeClient = program === undefined ? describe.skip : describe;
const reason = program === undefined ? ' (skipped: the package registry cannot be reached)' : '';
const pythonProgram = installedPythonProgram();
const describePython = pythonProgram === undefined ? describe.skip : describe;
const pythonReason = pythonProgram === undefined ? ' (skipped: it is not installed)' : '';

let home: string;
let project: string;
let installation: Installation;

/** Build command of the operator: shows the archive's files and fails when it holds one named `broken.txt`. */
const BUILD = `#!/bin/sh
tar -tzf "$1" | sort
echo "config $FAIRLEAD_GRAPH_CONFIG_PATH, install $FAIRLEAD_INSTALL_COMMAND"
if tar -tzf "$1" | grep -q broken.txt; then echo 'this cannot be built' >&2; exit 3; fi
`;
const DEPLOY = `#!/bin/sh
echo "started with $FAIRLEAD_SECRET_GREETING"
echo 'memory is short' >&2
`;
/** Stands in for Docker: says yes to everything, and names a digest for what was pushed. */
const DOCKER = `#!/bin/sh
echo "$*" >> "$DOCKER_CALLS"
case "$*" in
  *inspect*) echo '["registry.example/agents/pushed@sha256:${'ab'.repeat(32)}"]' ;;
  *) cat > /dev/null ;;
esac
`;

function script(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

type Environment = Readonly<Record<string, string>>;

/** Runs the client in the project's folder; `env` may hold another key. */
function client(args: readonly string[], env: Environment = {}, url = installation.url): Promise<Said> {
  const own = {
    LANGSMITH_API_KEY: OPERATOR,
    LANGGRAPH_CLI_NO_ANALYTICS: '1',
    NO_COLOR: '1',
    HOME: home,
    PATH: '/bin:/usr/bin',
  };
  return run(process.execPath, [program!, 'deploy', ...args, '--host-url', url], project, { ...own, ...env });
}

const deploy = (name: string, ...more: string[]) => client(['--remote', '--no-input', '--name', name, ...more]);

const ask = <T>(...request: Parameters<Installation['ask']>): Promise<T> => installation.ask(...request);

interface Deployment {
  readonly id: string;
  readonly source: string;
  readonly source_revision_config: Readonly<Record<string, unknown>>;
  readonly latest_revision_id: string;
}

async function named(name: string): Promise<Deployment> {
  const { resources } = await ask<{ resources: Deployment[] }>('GET', `/v2/deployments?name_contains=${name}`);
  return resources[0]!;
}

/** The events of `--json`. */
const events = ({ output }: Said) =>
  output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

beforeAll(async () => {
  if (program === undefined && pythonProgram === undefined) return;
  home = mkdtempSync(join(tmpdir(), 'fairlead-langgraph-cli-'));
  project = join(home, 'project');
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'src/agent.ts'), 'export const graph = {};\n');
  writeFileSync(join(project, '.gitignore'), '*.secret\n');
  writeFileSync(join(project, 'ignored.secret'), 'not for the archive');
  const config = { graphs: { agent: './src/agent.ts:graph' }, env: { GREETING: 'sesame', PORT: '80' } };
  writeFileSync(join(project, 'langgraph.json'), JSON.stringify(config));
  installation = await Installation.start({
    EXECUTOR: 'command',
    COMMAND_BUILD: `${script('build.sh', BUILD)} {source_tarball}`,
    COMMAND_DEPLOY: script('deploy.sh', DEPLOY),
    REGISTRY_URL: 'registry.example/agents',
    REGISTRY_TOKEN: 'push-token',
  });
  script('docker', DOCKER);
});
afterAll(async () => {
  await installation?.stop();
  if (home) rmSync(home, { recursive: true, force: true });
});

describeClient(`The deploy client${reason}`, () => {
  it('archives, uploads, creates, builds and waits until it is deployed', async () => {
    const said = await deploy('first', '--install-command', 'npm ci', '--verbose');
    expect(said.code).toBe(0);
    expect(said.output).toContain('Creating deployment');
    expect(said.output).toContain('Deployment successful');
    const made = await named('first');
    expect(made).toMatchObject({ source: 'internal_source', active_revision_id: made.latest_revision_id });
    expect(made).toMatchObject({ source_config: { deployment_type: 'dev', install_command: 'npm ci' } });
    expect(made).toMatchObject({ secrets: [{ name: 'GREETING' }] });
    const build = await client(['logs', '--name', 'first', '--type', 'build']);
    expect(build.code).toBe(0);
    expect(build.output).toContain(`Using latest revision: ${made.latest_revision_id}`);
    for (const line of ['src/agent.ts', 'langgraph.json', 'config langgraph.json, install npm ci']) {
      expect(build.output).toContain(`[INFO] ${line}\n`);
    }
    expect(build.output).not.toContain('ignored.secret');
  });

  it('makes a revision of the deployment that is there, and tells its steps as JSON', async () => {
    await deploy('again', '--no-wait');
    const before = await named('again');
    const said = await deploy('again', '--json');
    expect(said.code).toBe(0);
    const told = events(said);
    expect(told).toContainEqual(
      expect.objectContaining({ event: 'info', message: expect.stringContaining(before.id) }),
    );
    expect(told.at(-1)).toMatchObject({ event: 'result', status: 'succeeded', deployment_id: before.id });
    const after = await named('again');
    expect(after.id).toBe(before.id);
    expect(after.latest_revision_id).not.toBe(before.latest_revision_id);
    const listed = await client(['revisions', 'list', before.id]);
    expect(listed.code).toBe(0);
    const rows = listed.output.trim().split('\n').slice(2);
    expect(rows.map((row) => row.split(/ +/).slice(0, 2))).toEqual([
      [after.latest_revision_id, 'DEPLOYED'],
      [before.latest_revision_id, expect.stringMatching(/REPLACED|SKIPPED/)],
    ]);
  });

  it('ends with 1 and the last lines of the log when the build fails', async () => {
    writeFileSync(join(project, 'broken.txt'), '');
    const said = await deploy('unlucky');
    rmSync(join(project, 'broken.txt'));
    expect(said.code).toBe(1);
    expect(said.output).toContain('Last build log lines:');
    expect(said.output).toContain('| this cannot be built');
    expect((await client(['logs', '--name', 'unlucky', '--type', 'build', '--level', 'warning'])).output).toMatch(
      /\[WARNING\] this cannot be built\n$/,
    );
  });

  it('lists, shows logs and deletes', async () => {
    await deploy('short-lived');
    const { id } = await named('short-lived');
    const listed = await client(['list', '--name-contains', 'SHORT']);
    expect(listed.code).toBe(0);
    expect(listed.output.trim().split('\n').slice(2)).toEqual([expect.stringMatching(`^${id} +short-lived +-`)]);
    expect((await client(['list', '--name-contains', 'nothing-like-it'])).output).toBe('No deployments found.\n');
    const logs = await client(['logs', '--deployment-id', id]);
    expect(logs.code).toBe(0);
    expect(logs.output).toContain('[INFO] started with [redacted]\n');
    expect(logs.output).toContain('[WARNING] memory is short\n');
    expect((await client(['logs', '--deployment-id', id, '-q', 'SHORT'])).output).not.toContain('started');
    const deleted = await client(['delete', id, '--force']);
    expect(deleted).toMatchObject({ code: 0, output: `Deleted deployment ${id}.\n` });
    const gone = () =>
      ask('GET', `/v2/deployments/${id}`).then(
        () => false,
        () => true,
      );
    while (!(await gone())) await pause(50);
    expect((await client(['list', '--name-contains', 'short'])).output).toBe('No deployments found.\n');
  });

  it('works below /api-host as well', async () => {
    const said = await client(['list'], {}, `${installation.url}/api-host`);
    expect(said).toMatchObject({ code: 0, errors: '' });
  });

  it.each([
    [['list']],
    [['revisions', 'list', MISSING]],
    [['logs', '--deployment-id', MISSING]],
    [['delete', MISSING, '--force']],
    [['--remote', '--no-input', '--deployment-id', MISSING]],
  ])('ends with 1 and the refusal when the key is unknown: %j', async (args) => {
    const said = await client(args, { LANGSMITH_API_KEY: 'no-key-of-ours' });
    expect(said.code).toBe(1);
    expect(said.errors).toMatch(/^Error: .* failed with status 401: \{"detail":"Invalid token"\}\n$/);
  });

  it.each([
    [['revisions', 'list', MISSING]],
    [['logs', '--deployment-id', MISSING]],
    [['logs', '--deployment-id', MISSING, '--type', 'build', '--revision-id', MISSING]],
    [['delete', MISSING, '--force']],
    [['--remote', '--no-input', '--deployment-id', MISSING]],
  ])('ends with 1 and says what is not found: %j', async (args) => {
    const said = await client(args);
    expect(said.code).toBe(1);
    expect(said.errors).toContain(`failed with status 404: {"detail":"Deployment ID ${MISSING} not found."}`);
  });

  it('asks for the workspace when the key is one of the organisation', async () => {
    const { key } = await ask<{ key: string }>('POST', '/api/v1/api-key', { organization: true });
    const keys = { LANGSMITH_API_KEY: key };
    const args = ['--remote', '--no-input', '--no-wait', '--name', 'of-a-workspace'];
    const refused = await client(args, keys);
    expect(refused.code).toBe(1);
    expect(refused.errors).toContain('API key is org-scoped and requires a workspace ID.');
    const [workspace] = await ask<{ id: string }[]>('GET', '/api/v1/workspaces');
    expect(await client(args, { ...keys, LANGSMITH_TENANT_ID: workspace!.id })).toMatchObject({ code: 0, errors: '' });
  });

  it('pushes an image that it built, and deploys its digest', async () => {
    const calls = join(home, 'docker-calls');
    const env = { PATH: `${home}:/bin:/usr/bin`, DOCKER_CALLS: calls };
    const said = await client(['--no-remote', '--no-input', '--name', 'pushed'], env);
    expect(said.code).toBe(0);
    expect(said.output).toContain('Deployment successful');
    expect(readFileSync(calls, 'utf8')).toContain('push registry.example/agents/pushed:latest');
    expect(await named('pushed')).toMatchObject({
      source: 'internal_container',
      source_revision_config: { image_uri: `registry.example/agents/pushed@sha256:${'ab'.repeat(32)}` },
    });
    const other = await client(['--no-remote', '--no-input', '--deployment-id', (await named('first')).id], env);
    expect(other.code).toBe(1);
    expect(other.errors).toContain("was not created by 'langgraph deploy'");
    expect(existsSync(join(project, '.env'))).toBe(false);
  });
});

/** Digests of images. */
const [FIRST_IMAGE, SECOND_IMAGE] = ['ab', 'cd'].map(
  (pair) => `registry.example/agents/a@sha256:${pair.repeat(32)}`,
) as [string, string];

describePython(`The deploy client for Python${pythonReason}`, () => {
  let sources: string;

  /** Runs it with the address of the server, or with `url`. */
  function python(args: readonly string[], url = installation.url, env: Environment = {}): Promise<Said> {
    const own = {
      ...{ LANGSMITH_API_KEY: OPERATOR, LANGGRAPH_CLI_NO_ANALYTICS: '1', NO_COLOR: '1', HOME: home },
      PATH: '/bin:/usr/bin',
    };
    return run(pythonProgram!, ['deploy', ...args, '--host-url', url], sources, { ...own, ...env });
  }
  const deployed = (...args: string[]) => python(['--no-input', ...args]);

  beforeAll(async () => {
    sources = join(home, 'python');
    mkdirSync(join(sources, 'agent'), { recursive: true });
    writeFileSync(join(sources, 'agent/graph.py'), 'graph = {}\n');
    writeFileSync(join(sources, 'requirements.txt'), 'langgraph\n');
    const config = { dependencies: ['.'], graphs: { agent: './agent/graph.py:graph' }, env: { GREETING: 'sesame' } };
    writeFileSync(join(sources, 'langgraph.json'), JSON.stringify(config));
    await ask('POST', '/v2/listeners', {
      ...{ compute_type: 'k8s', compute_id: 'cluster-1' },
      compute_config: { cluster_namespaces: ['agents'] },
    });
  });

  it('archives, uploads, creates and waits until it is deployed, and again by id', async () => {
    const said = await deployed('--remote', '--name', 'python-first');
    expect(said).toMatchObject({ code: 0, output: expect.stringContaining('Deployment successful') });
    const made = await named('python-first');
    expect(made).toMatchObject({ source: 'internal_source', active_revision_id: made.latest_revision_id });
    const again = await deployed('--remote', '--json', '--deployment-id', made.id);
    expect(events(again).at(-1)).toMatchObject({ event: 'result', status: 'succeeded' });
    const { output } = await python(['revisions', 'list', made.id]);
    expect(
      output
        .trim()
        .split('\n')
        .slice(2)
        .map((row) => row.split(/ +/)[1]),
    ).toEqual(['DEPLOYED', 'REPLACED']);
    expect((await python(['logs', '--name', 'python-first', '--type', 'build'])).output).toContain('agent/graph.py');
    expect((await python(['logs', '--deployment-id', made.id])).output).toContain('started with [redacted]');
  });

  it.each([
    ['the server', ''],
    ['/api-host', '/api-host'],
  ])('knows its own deployment of an image again by the words of %s', async (_, path) => {
    const name = `python-image${path.replace('/', '-')}`;
    const image = (uri: string) => python(['--no-input', '--name', name, '--image-uri', uri], installation.url + path);
    expect(await image(FIRST_IMAGE)).toMatchObject({ code: 0 });
    expect(await image(SECOND_IMAGE)).toMatchObject({ code: 0, output: expect.stringContaining('Found existing') });
    // Whoever sends other headers reads the specification's words.
    const { id, ...read } = await named(name);
    expect(read).toMatchObject({
      source: 'external_container',
      source_revision_config: { image_uri: SECOND_IMAGE },
    });
    expect(await python(['--no-input', '--deployment-id', id, '--image-uri', FIRST_IMAGE])).toMatchObject({
      code: 0,
    });
  });

  it('deploys through a listener into one of its namespaces', async () => {
    const { output } = await python(['listeners', 'list']);
    expect(output).toMatch(/ cluster-1 +agents *\n$/);
    const wrong = await deployed('--name', 'python-placed', '--image-uri', FIRST_IMAGE, '--k8s-namespace', 'other');
    expect(wrong).toMatchObject({ code: 2, errors: expect.stringContaining('Choose one of: agents') });
    const placed = await deployed('--name', 'python-placed', '--image-uri', FIRST_IMAGE, '--k8s-namespace', 'agents');
    expect(placed).toMatchObject({ code: 0 });
    expect(await named('python-placed')).toMatchObject({
      source_config: { listener_config: { cluster_namespace: 'agents' } },
    });
  });

  it('keeps the deployments of an agent apart by environment', async () => {
    const agent = (environment: string) =>
      deployed('--remote', '--no-wait', '--agent-id', 'support', '--agent-environment', environment);
    expect((await agent('staging')).output).toContain('Will create');
    expect((await agent('staging')).output).toContain('Found existing deployment');
    expect((await agent('production')).output).toContain('Will create');
  });

  it('reads the address that SDKs are given, lists and deletes', async () => {
    const env = { LANGSMITH_API_KEY: OPERATOR, LANGSMITH_ENDPOINT: `${installation.url}/api/v1`, HOME: home };
    expect(await deployed('--no-wait', '--name', 'python-gone', '--image-uri', FIRST_IMAGE)).toMatchObject({ code: 0 });
    const { id } = await named('python-gone');
    const listed = await run(pythonProgram!, ['deploy', 'list', '--name-contains', 'PYTHON-GONE'], sources, env);
    expect(listed.output.trim().split('\n').slice(2)).toEqual([expect.stringMatching(`^${id} +python-gone`)]);
    expect(await python(['delete', id, '--force'])).toMatchObject({ code: 0 });
    const unknown = await python(['logs', '--deployment-id', MISSING]);
    expect(unknown).toMatchObject({ code: 1, errors: expect.stringContaining(`Deployment ID ${MISSING} not found.`) });
  });
});
