import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { pack, sourceFiles } from './source-folder';

/** Nothing that this machine has set for Git counts. */
const GIT = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-source-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

it('holds the files of the folder, without what tools make of them and without secrets', async () => {
  write({
    ...{ 'langgraph.json': '{}', 'src/agent.ts': '', 'src/.hidden': '', '.env.example': '' },
    ...{ '.git/HEAD': '', 'node_modules/a/index.js': '', 'src/node_modules/b.js': '', '.venv/c': '' },
    ...{ 'src/__pycache__/d': '', '.langgraph_api/e': '', '.env': 'KEY=1', 'src/.env.local': 'KEY=2' },
  });
  const { files, leftOut } = await sourceFiles(folder);
  expect(files).toEqual(['.env.example', 'langgraph.json', 'src/.hidden', 'src/agent.ts']);
  expect([...new Set(leftOut.map(({ because }) => because))]).toEqual(['never part of a source']);
});

it('leaves out what the .gitignore of each folder and the .dockerignore name', async () => {
  write({
    '.gitignore': '*.log\n/build\n!keep.log\n',
    '.dockerignore': 'docs\n',
    'web/.gitignore': '# of this folder only\n/build/\n!loud.log\n*.tmp\n',
    ...{ 'a.log': '', 'keep.log': '', 'build/x': '', 'docs/page.md': '', 'sub/build/kept': '', 'a.tmp': '' },
    ...{ 'web/build/x': '', 'web/loud.log': '', 'web/b.log': '', 'web/sub/b.tmp': '', 'web/index.html': '' },
  });
  const { files } = await sourceFiles(folder);
  expect(files.filter((file) => !/ignore$/.test(file))).toEqual([
    ...['a.tmp', 'keep.log', 'sub/build/kept', 'web/index.html', 'web/loud.log'],
  ]);
});

describe('the grammar of .dockerignore', () => {
  it.each([
    // A pattern is a path from the root of the source, not a name in any folder.
    ['*.md', ['README.md'], ['docs/README.md']],
    ['**/*.md', ['README.md', 'docs/README.md', 'a/b/c.md'], ['readme.MD']],
    ['docs', ['docs/page.md', 'docs/a/b'], ['src/docs/page.md']],
    ['/docs/', ['docs/page.md'], ['src/docs/page.md']],
    ['*/temp*', ['a/temporary.txt', 'a/temp/x'], ['temp', 'a/b/temp']],
    ['temp?', ['tempa'], ['temp', 'temporary']],
    ['a/**', ['a/x', 'a/b/c'], ['b/a/c']],
    ['**/dist', ['dist/x', 'packages/a/dist/y'], ['dist.js']],
    ['# a comment\n \n#docs', [], ['docs/page.md', '#docs']],
    ['*\n!src\n!package.json', ['a', 'b/c'], ['src/index.js', 'package.json']],
    ['docs\n!docs/keep.md', ['docs/page.md', 'docs/a/b'], ['docs/keep.md']],
    ['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md', 'b/a.md']],
    ['[ab].txt', ['a.txt'], ['c.txt']],
    ['./x/../y', ['y/z'], ['x/z']],
    ['\uFEFFa.txt\r\nb.txt\r\n', ['a.txt', 'b.txt'], ['c.txt']],
    ['a(1)+$.txt', ['a(1)+$.txt'], ['a1.txt']],
  ])('%j', async (dockerignore, ignored, kept) => {
    write({ '.dockerignore': dockerignore, ...Object.fromEntries([...ignored, ...kept].map((path) => [path, ''])) });
    const { files } = await sourceFiles(folder);
    expect(files.filter((path) => path !== '.dockerignore')).toEqual([...kept].sort());
  });

  it('is left out only where it is at the root', async () => {
    write({ 'web/.dockerignore': '*', 'web/a': '' });
    expect((await sourceFiles(folder)).files).toEqual(['web/.dockerignore', 'web/a']);
  });
});

const hasGit = spawnSync('git', ['--version']).status === 0;
(hasGit ? it : it.skip)('leaves out what Git leaves out, whatever the patterns are', async () => {
  const name = fc.constantFrom('a', 'A', 'b', 'a.log', 'b.txt', 'build', 'Build', ' c', 'd#');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const pattern = fc
    .tuple(
      fc.constantFrom('', '!', '/'),
      fc.array(fc.oneof(name, fc.constantFrom('*', '**', '*.log', '[ab]', '?')), { minLength: 1, maxLength: 2 }),
      fc.constantFrom('', '/', ' ', '\\ '),
    )
    .map(([before, parts, after]) => `${before}${parts.join('/')}${after}`);
  const patterns = fc.array(fc.oneof(pattern, fc.constant('# note')), { maxLength: 4 });
  const run = (paths: string[], root: string[], inner: string[]) => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    for (const one of paths) {
      try {
        write({ [one]: '' });
      } catch {
        // There is a file in the place of a folder.
      }
    }
    write({ keep: '', '.gitignore': root.join('\r\n') });
    if (existsSync(join(folder, 'a')) && statSync(join(folder, 'a')).isDirectory()) {
      write({ 'a/.gitignore': inner.join('\n') });
    }
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: GIT });
    git('init', '-q');
    const listed = git('ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean).sort();
    return listed;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(path, { minLength: 1, maxLength: 6 }), patterns, patterns, async (paths, root, inner) => {
      const listed = run(paths, root, inner);
      fc.pre(listed.length > 0);
      expect([...(await sourceFiles(folder)).files].sort()).toEqual(listed);
    }),
    { numRuns: 60, examples: [[['b.txt/a', 'b/a/c'], ['b.txt/**/', 'b/**/ '], []]] },
  );
});

it('never holds secrets and what tools make, whatever is taken in, but files that a line names', async () => {
  write({
    ...{ '.gitignore': '*\n!*/\n!*\n!.env.production\n', '.git/HEAD': '', 'node_modules/a': '', 'sub/.venv/b': '' },
    ...{ '.env': 'KEY=1', 'sub/.env.local': 'KEY=2', '.env.production': 'PUBLIC=1', 'sub/a.js': '' },
  });
  expect((await sourceFiles(folder)).files).toEqual(['.env.production', '.gitignore', 'sub/a.js']);
});

it('tells for each path which line leaves it out', async () => {
  write({
    ...{ '.gitignore': '*.log\nbuild/\n', '.dockerignore': 'docs\n', 'web/.gitignore': '/tmp*\n', '.npmignore': '*' },
    ...{ 'a.log': '', 'build/x': '', 'docs/page.md': '', 'web/tmp1': '', 'web/b.log': '', '.env': '' },
  });
  const { files, leftOut } = await sourceFiles(folder);
  // Ignore files of other tools say nothing about a deployment.
  expect(files).toEqual(['.dockerignore', '.gitignore', '.npmignore', 'web/.gitignore']);
  expect(leftOut.map(({ path, because }) => `${path} (${because})`)).toEqual([
    ...['.env (never part of a source)', 'a.log (.gitignore: *.log)', 'build/ (.gitignore: build/)'],
    ...['docs/ (.dockerignore: docs)', 'web/b.log (.gitignore: *.log)', 'web/tmp1 (web/.gitignore: /tmp*)'],
  ]);
});

it('tells the links that it leaves out', async () => {
  write({ 'agent.py': '' });
  symlinkSync('/etc/passwd', join(folder, 'passwd'));
  const leftOut = [{ path: 'passwd', because: 'a link' }];
  expect(await sourceFiles(folder)).toEqual({ files: ['agent.py'], leftOut });
});

it('is refused when there is nothing in it, and when it is none', async () => {
  write({ '.gitignore': '*\n', 'agent.py': '' });
  await expect(sourceFiles(folder)).rejects.toThrow(/There is nothing to deploy in/);
  await expect(sourceFiles(join(folder, 'agent.py'))).rejects.toThrow(/cannot be read: .* is not a folder/);
});

it('is packed whatever its files are called', async () => {
  const names = ['-rf', 'a b', "it's", 'größe', 'line\nbreak'];
  write(Object.fromEntries(names.map((name) => [name, name])));
  const archive = `${folder}.tar.gz`;
  const unpacked = mkdtempSync(join(tmpdir(), 'fairlead-unpacked-'));
  try {
    await pack(folder, (await sourceFiles(folder)).files, archive);
    execFileSync('tar', ['-xzf', archive, '-C', unpacked]);
    expect((await sourceFiles(unpacked)).files).toEqual([...names].sort());
  } finally {
    rmSync(unpacked, { recursive: true });
    rmSync(archive, { force: true });
  }
  await expect(pack(folder, ['missing'], archive)).rejects.toThrow(/tar could not pack .*missing/s);
  rmSync(archive, { force: true });
});
