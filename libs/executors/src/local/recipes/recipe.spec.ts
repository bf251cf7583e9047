import { type BuildPlan, planOf, programFolders, type Wanted, withServer } from './recipe';
import { serverFor } from './langgraph-server';
import { hasWorker, readProcfile } from './procfile';
import { isMember } from './workspace';

type Files = Readonly<Record<string, string | object>>;

function treeOf(files: Files) {
  const text = (value: string | object) => (typeof value === 'string' ? value : JSON.stringify(value));
  return {
    files: new Set(Object.keys(files)),
    text: async (path: string) => (path in files ? text(files[path]!) : undefined),
  };
}

const plan = (files: Files, wanted: Wanted = {}): Promise<BuildPlan> => planOf(treeOf(files), wanted);
const commands = (list: BuildPlan['install']) => list.map(({ run }) => run);
const PACKAGE = { dependencies: { '@langchain/langgraph': '^1.0.0' } };
const graphs = (...paths: string[]) => ({
  graphs: Object.fromEntries(paths.map((path, index) => [`g${index}`, path])),
});

describe('the language of a graph configuration', () => {
  const language = async (config: object, files: Files = { 'package.json': PACKAGE }) => {
    const { recipe } = await plan({ ...files, 'langgraph.json': config });
    return /langgraphjs/.test(recipe.start) ? 'node' : 'python';
  };

  it.each([
    [{ ...graphs('./graph.mjs:graph'), node_version: '20', dependencies: ['.'] }, 'node'],
    [{ ...graphs('./graph.mjs:graph'), dependencies: ['.'] }, 'node'],
    [{ ...graphs('./a.ts:graph', './b.cts:graph') }, 'node'],
    [{ graphs: { a: { path: './a.tsx:graph', description: 'x' } } }, 'node'],
    [{ ...graphs('./a.ts:graph'), python_version: '3.12' }, 'node'],
    [{ ...graphs('./graph.py:graph') }, 'python'],
    [{ ...graphs('./graph.py:graph'), node_version: '20' }, 'python'],
    [{ ...graphs('agent.graph:graph'), python_version: '3.12' }, 'python'],
    [{ ...graphs('agent.graph:graph'), node_version: '20' }, 'node'],
    [{ ...graphs('agent.graph:graph'), dependencies: ['.'] }, 'python'],
    [{ graphs: {} }, 'node'],
  ])('of %j is %s', async (config, expected) => {
    expect(await language(config)).toBe(expected);
  });

  it('cannot be both', async () => {
    const both = { ...graphs('./a.py:graph', './b.js:graph'), dependencies: ['.'] };
    await expect(language(both)).rejects.toThrow(
      'langgraph.json has graphs in JavaScript (./b.js) and in Python (./a.py)',
    );
  });

  it('is Python without package.json, where nothing else says so', async () => {
    expect(await language({ graphs: {} }, {})).toBe('python');
  });
});

describe('a source in JavaScript', () => {
  const scripts = { build: 'tsc', start: 'node dist' };

  it('is installed by its lock file, and built with its script', async () => {
    const { install, build, recipe } = await plan({ 'package.json': { scripts }, 'package-lock.json': '{}' });
    expect(install).toEqual([
      expect.objectContaining({
        run: 'npm ci --no-audit --no-fund',
        otherwise: expect.objectContaining({ run: 'npm install --no-audit --no-fund' }),
      }),
    ]);
    expect(build).toEqual([{ run: 'npm run build', hint: expect.stringContaining('--build-command') }]);
    expect(recipe.start).toBe('npm start --silent');
  });

  it('is installed and built with the commands that were given, of which empty ones are as none', async () => {
    const files = { 'package.json': { scripts }, 'pnpm-lock.yaml': "lockfileVersion: '9.0'" };
    const given = await plan(files, { install_command: 'make deps', build_command: 'make' });
    expect([commands(given.install).slice(1), commands(given.build)]).toEqual([['make deps'], ['make']]);
    expect(given.install[0]!.run).toContain('pnpm@10');
    expect(commands((await plan(files, { build_command: ' ' })).build)).toEqual(['pnpm run build']);
  });

  it.each([
    ['pnpm@10.13.1', {}, 'pnpm@10.13.1', 'pnpm install --store-dir "$HOME/.cache/pnpm" --no-frozen-lockfile'],
    [
      'yarn@1.22.22',
      { 'yarn.lock': '# yarn lockfile v1' },
      'yarn@1.22.22',
      'yarn install --non-interactive --frozen-lockfile',
    ],
    ['yarn@4.9.1', { 'yarn.lock': '__metadata:' }, '@yarnpkg/cli-dist@4.9.1', 'yarn install --immutable'],
    [undefined, { 'yarn.lock': '__metadata:\n  version: 8' }, '@yarnpkg/cli-dist@4', 'yarn install --immutable'],
    [
      undefined,
      { 'yarn.lock': '# yarn lockfile v1' },
      'yarn@1.22.22',
      'yarn install --non-interactive --frozen-lockfile',
    ],
    [
      undefined,
      { 'pnpm-lock.yaml': "lockfileVersion: '6.0'" },
      'pnpm@8',
      'pnpm install --store-dir "$HOME/.cache/pnpm" --frozen-lockfile',
    ],
    [
      undefined,
      { 'pnpm-workspace.yaml': 'packages: []' },
      'pnpm@10',
      'pnpm install --store-dir "$HOME/.cache/pnpm" --no-frozen-lockfile',
    ],
  ])('of %s with %j has its package manager: %s', async (packageManager, more, spec, install) => {
    const { install: all, recipe } = await plan({ 'package.json': { packageManager, scripts }, ...more });
    expect(all[0]!.shown).toBe(`npm install --no-audit --no-fund ${spec}`);
    expect(all.at(-1)!.run).toBe(install);
    expect(recipe.programs![0]).toMatch(/^"\$HOME\/\.fairlead\/(pnpm|yarn)-[\d.]+"\/node_modules\/\.bin$/);
  });

  it('of a package manager with a checksum has exactly that one', async () => {
    const packageManager = `pnpm@10.5.1+sha512.${'ab'.repeat(64)}`;
    const { install, warnings } = await plan({ 'package.json': { packageManager, scripts } });
    expect(install[0]!.run).toContain(`grep -qF 'sha512-${Buffer.alloc(64, 0xab).toString('base64')}'`);
    expect(warnings).toEqual([]);
    const other = await plan({ 'package.json': { packageManager: 'yarn@4.9.1+sha512.abc', scripts } });
    expect(other.warnings).toEqual([expect.stringContaining('checksum in packageManager is not compared')]);
  });

  it('warns of lock files that are not used, and refuses what it cannot install', async () => {
    const locks = { 'pnpm-lock.yaml': '', 'package-lock.json': '{}', 'bun.lock': '' };
    const { warnings } = await plan({ 'package.json': { packageManager: 'pnpm@10.0.0', scripts }, ...locks });
    expect(warnings).toEqual([
      'package-lock.json is not used: the packages are installed with pnpm.',
      'bun.lock is not used: the packages are installed with pnpm.',
    ]);
    await expect(plan({ 'package.json': { packageManager: 'bun@1.2.0', scripts } })).rejects.toThrow(
      /bun, which cannot/,
    );
    await expect(plan({ 'package.json': { packageManager: '../x', scripts } })).rejects.toThrow(/is not understood/);
  });

  it('of LangGraph has a server of its own, in a version that serves what is installed', async () => {
    const files = { 'langgraph.json': graphs('./a.ts:graph'), 'package.json': { ...PACKAGE, scripts }, 'a.ts': '' };
    const found = await plan(files);
    // The LangGraph command lines would not run it, and the graph is in the source.
    expect(found.build).toEqual([
      { run: 'npm run build', otherwise: { says: expect.stringContaining('"build" failed') } },
    ]);
    const installed = (version: string) =>
      withServer(found, treeOf({ 'node_modules/@langchain/langgraph/package.json': { version } }));
    const served = await installed('0.4.10');
    expect(served.build[0]!.run).toContain('@langchain/langgraph-cli@1.1.17');
    expect(served.recipe.start).toMatch(
      /^exec "\$HOME\/\.fairlead\/langgraphjs-1\.1\.17"\/node_modules\/\.bin\/langgraphjs dev /,
    );
    await expect(installed('0.2.5')).rejects.toThrow('@langchain/langgraph 0.2.5, which is too old');
    const own = { ...files, 'package.json': { devDependencies: { '@langchain/langgraph-cli': '1.0.0' } } };
    expect(await plan(own)).toMatchObject({
      needsServer: false,
      recipe: { start: expect.stringMatching(/^exec langgraphjs dev/) },
    });
  });

  it.each([
    ['yarn.lock', '"@langchain/langgraph@^0.2.7":\n  version "0.2.8"\n  resolved "https://…"\n'],
    ['yarn.lock', '"@langchain/langgraph@npm:^0.2.7":\n  version: 0.2.8\n  resolution: "…"\n'],
    ['pnpm-lock.yaml', "packages:\n\n  '@langchain/langgraph@0.2.8':\n    resolution: {}\n"],
    ['pnpm-lock.yaml', 'packages:\n\n  /@langchain/langgraph@0.2.8(zod@3.0.0):\n    resolution: {}\n'],
    ['package-lock.json', '{"packages": {"node_modules/@langchain/langgraph": {\n "version": "0.2.8"}}}'],
  ])('of a LangGraph that is too old by its %s is refused before anything is installed', async (name, lock) => {
    const needing = (version: string) => ({
      'langgraph.json': graphs('./a.ts:graph'),
      'package.json': { ...PACKAGE, dependencies: { '@langchain/langgraph': version } },
      'a.ts': '',
    });
    await expect(plan({ ...needing('^0.2.7'), [name]: lock })).rejects.toThrow('langgraph 0.2.8, which is too old');
    // What package.json asks for now is not what the lock file has.
    await expect(plan({ ...needing('^0.3.0'), [name]: lock })).resolves.toMatchObject({ needsServer: true });
    const newer = lock.replace('0.2.8', '0.2.74');
    await expect(plan({ ...needing('^0.2.7'), [name]: newer })).resolves.toMatchObject({ needsServer: true });
  });

  it.each([
    ['1.7.3', '1.5.1'],
    ['1.4.18', '1.5.1'],
    ['1.4.17', '1.1.17'],
    ['1.0.0-alpha.1', '1.1.17'],
    ['0.2.57', '1.1.17'],
    [undefined, '1.5.1'],
  ])('with LangGraph %s is served by %s', (installed, server) => expect(serverFor(installed)).toBe(server));

  it('needs its build when its graphs are what that makes', async () => {
    const { build } = await plan({
      'langgraph.json': graphs('./dist/a.js:graph'),
      'package.json': { ...PACKAGE, scripts },
    });
    expect(build).toEqual([{ run: 'npm run build', hint: expect.any(String) }]);
  });
});

describe('a workspace', () => {
  const agent = {
    'apps/agent/langgraph.json': graphs('./graph.ts:graph'),
    'apps/agent/graph.ts': '',
    'apps/agent/package.json': {
      name: 'agent',
      scripts: { build: 'tsc' },
      dependencies: { shared: '*', unbuilt: '*' },
    },
    'packages/shared/package.json': { name: 'shared', scripts: { build: 'tsc' }, dependencies: { base: '*' } },
    'packages/base/package.json': { name: 'base', scripts: { build: 'tsc' } },
    'packages/unbuilt/package.json': { name: 'unbuilt' },
    'packages/other/package.json': { name: 'other', scripts: { build: 'false' } },
  };
  const wanted = { graph_config_path: 'apps/agent/langgraph.json' };

  it('is installed at its root, and builds what the agent needs, in order', async () => {
    const root = { 'package.json': { workspaces: ['apps/*', 'packages/**', '!packages/other'] } };
    const { install, build, recipe } = await plan({ ...root, ...agent }, wanted);
    expect(commands(install)).toEqual(['cd ../.. && npm install --no-audit --no-fund']);
    expect(commands(build)).toEqual([
      ...['cd ../../packages/base && npm run build', 'cd ../../packages/shared && npm run build', 'npm run build'],
    ]);
    expect(recipe).toMatchObject({ folder: 'apps/agent' });
    expect(programFolders(recipe, '/b', '/h')).toEqual([
      ...['/b/apps/agent/node_modules/.bin', '/b/apps/node_modules/.bin', '/b/node_modules/.bin'],
    ]);
  });

  it('of pnpm with Turborepo is built by that', async () => {
    const { install, build, recipe } = await plan(
      {
        ...agent,
        'package.json': { packageManager: 'pnpm@10.13.1', devDependencies: { turbo: '2' } },
        'pnpm-workspace.yaml': 'packages:\n  - apps/*\n  - "packages/*"\n',
        'pnpm-lock.yaml': "lockfileVersion: '9.0'",
        'turbo.json': '{ // comments\n "tasks": { "build": {} } }',
      },
      wanted,
    );
    expect(commands(install)[1]).toBe('cd ../.. && pnpm install --store-dir "$HOME/.cache/pnpm" --frozen-lockfile');
    expect(commands(build)).toEqual(["cd ../.. && turbo run build '--filter=agent^...'", 'pnpm run build']);
    expect(programFolders(recipe, '/b', '/h').at(-1)).toBe('/h/.fairlead/pnpm-10.13.1/node_modules/.bin');
  });

  it('that the folder is no member of leaves it alone', async () => {
    const root = { 'package.json': { workspaces: ['packages/*'] } };
    expect(commands((await plan({ ...root, ...agent }, wanted)).install)).toEqual(['npm install --no-audit --no-fund']);
  });

  it('whose root is not in the source is asked for', async () => {
    const files = { 'package.json': { scripts: { start: 'x' }, dependencies: { shared: 'workspace:*' } } };
    await expect(plan(files)).rejects.toThrow(/needs shared of its workspace .* deploy the root of the workspace/);
  });

  it.each([
    ['apps/web', ['apps/*'], true],
    ['apps/web/deep', ['apps/*'], false],
    ['apps/web/deep', ['apps/**'], true],
    ['a/b/c', ['**/c'], true],
    ['apps/web', ['./apps/*/'], true],
    ['apps/web', ['apps/*', '!apps/web'], false],
    ['apps/web', ['apps/w*b'], true],
    ['apps/web', ['(a+)+$'], false],
    ['a'.repeat(20_000), ['*a'.repeat(2000) + 'b'], false],
  ])('holds a folder by its patterns', (folder, patterns, expected) => {
    expect(isMember(folder, patterns)).toBe(expected);
  });
});

describe('a source in Python', () => {
  it('of LangGraph has the packages of its dependencies, as the LangGraph command lines install them', async () => {
    const config = {
      ...graphs('./my_agent/agent.py:graph'),
      dependencies: ['./my_agent', './tools', './lib', 'requests>=2'],
    };
    const { install, recipe, needsServer } = await plan({
      'langgraph.json': config,
      'requirements.txt': 'of-something-else',
      ...{ 'my_agent/requirements.txt': '', 'my_agent/__init__.py': '', 'my_agent/agent.py': '' },
      ...{ 'tools/pyproject.toml': '[build-system]\n[project]\n', 'lib/helper/__init__.py': '' },
    });
    const [venv, packages, path, own, ...server] = commands(install);
    expect([venv, packages]).toEqual([
      'python3 -m venv .venv',
      "pip install --quiet -r my_agent/requirements.txt 'requests>=2'",
    ]);
    expect(path).toContain(`printf '%s\\n' "$PWD"/. "$PWD"/lib >> `);
    expect(own).toBe('pip install --quiet -e tools');
    // No package of the project gets another version.
    expect(server.at(-1)).toContain("-c .venv/installed.txt 'langgraph-cli[inmem]==");
    expect([recipe.venv, recipe.start, needsServer]).toEqual([
      true,
      expect.stringMatching(/^exec langgraph dev /),
      false,
    ]);
  });

  it.each([
    ['./nowhere', 'names the folder ./nowhere, which is not in the source'],
    ['../outside', 'names the folder ../outside, which is not in the source'],
    ['./agent.py', 'names ./agent.py, which must be a folder'],
  ])('that depends on %s is refused by name', async (folder, said) => {
    const config = { ...graphs('./agent.py:graph'), dependencies: [folder] };
    await expect(plan({ 'langgraph.json': config, 'agent.py': '' })).rejects.toThrow(said);
  });

  it('whose configuration has what the server does not take gets another one', async () => {
    const config = {
      ...graphs('./agent.py:graph'),
      node_version: '20',
      env: ['KEY'],
      dependencies: ['.'],
      dockerfile_lines: ['RUN x'],
    };
    const { install, recipe, warnings } = await plan({ 'langgraph.json': config, 'agent.py': '' });
    expect(commands(install)).toContainEqual(
      expect.stringMatching(/langgraph\.json \.langgraph\.fairlead\.json env node_version$/),
    );
    expect(recipe.start).toContain('--config .langgraph.fairlead.json');
    expect(warnings).toEqual([expect.stringContaining('dockerfile_lines of the graph configuration has no effect')]);
  });

  it('is started with its Procfile, in its virtual environment', async () => {
    const files = {
      Procfile: 'web: gunicorn app:app\n',
      'requirements.txt': 'flask',
      '.python-version': '3.12\n',
      'uv.lock': '',
    };
    const { install, recipe, warnings } = await plan(files);
    expect(install).toEqual([
      { run: 'python3.12 -m venv .venv', otherwise: expect.objectContaining({ run: 'python3 -m venv .venv' }) },
      expect.objectContaining({ run: 'pip install --quiet -r requirements.txt' }),
    ]);
    expect(recipe).toEqual({ folder: '.', start: 'gunicorn app:app', langgraph: false, venv: true });
    expect(programFolders(recipe, '/b', '/h')).toEqual(['/b/.venv/bin', '/b/node_modules/.bin']);
    expect(warnings).toEqual(['uv.lock is not used: pip installs the versions that the project asks for.']);
  });

  it('with package.json has both kinds of packages where its Procfile needs Python', async () => {
    const files = { 'package.json': { scripts: { build: 'vite build' } }, 'requirements.txt': '' };
    const both = await plan({ ...files, Procfile: 'web: uvicorn app:app' });
    expect(commands([...both.install, ...both.build])).toEqual([
      ...['python3 -m venv .venv', 'pip install --quiet -r requirements.txt'],
      ...['npm install --no-audit --no-fund', 'npm run build'],
    ]);
    const node = await plan({ ...files, Procfile: 'web: node server.js' });
    expect(node.recipe.venv).toBeUndefined();
  });

  it('that is no package has what it depends on', async () => {
    const { install } = await plan({ Procfile: 'web: python main.py', 'pyproject.toml': '[project]\nname = "a"\n' });
    expect(commands(install).at(-2)).toBe('pip install --quiet -r "$VIRTUAL_ENV/dependencies.txt"');
  });
});

describe('a Procfile', () => {
  it('is read as Heroku reads it', () => {
    const text = '\uFEFF# comment\r\nweb:\r\nworker: python w.py  \r\nweb:node a.js\nnot a line\nmy-clock_1: x:y\n';
    expect(Object.fromEntries(readProcfile(text))).toEqual({
      worker: 'python w.py',
      web: 'node a.js',
      'my-clock_1': 'x:y',
    });
  });

  it('runs its worker beside it and its release before it, and tells what is not run', async () => {
    const Procfile = "web: node a.js\nworker: echo 'it'\nrelease: ./migrate\nclock: x\n";
    const { recipe, warnings } = await plan({ Procfile, 'package.json': {} });
    expect(recipe).toMatchObject({
      release: './migrate',
      web: 'node a.js',
      start: expect.stringMatching(/^\( while .*\) &\nnode a\.js$/s),
    });
    expect(hasWorker(recipe.start)).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('The line "clock:" of the Procfile is not run')]);
  });
});

it('says what is missing, and what cannot be read', async () => {
  await expect(plan({ 'a.txt': '' })).rejects.toThrow('Nothing says how to start it');
  await expect(plan({ 'langgraph.json': '[' })).rejects.toThrow('langgraph.json is not a JSON object.');
  const missing = plan({ 'package.json': { scripts: { start: 'x' } } }, { graph_config_path: 'nope.json' });
  await expect(missing).rejects.toThrow('graph_config_path names nope.json, which is not in the source.');
  await expect(plan({}, { graph_config_path: '../x.json' })).rejects.toThrow('must be a path in the source');
});
