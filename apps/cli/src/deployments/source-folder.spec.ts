import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pack, sourceFiles } from './source-folder';

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
  const { files, links } = await sourceFiles(folder);
  expect([files, links]).toEqual([['.env.example', 'langgraph.json', 'src/.hidden', 'src/agent.ts'], []]);
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

it('tells the links that it leaves out', async () => {
  write({ 'agent.py': '' });
  symlinkSync('/etc/passwd', join(folder, 'passwd'));
  expect(await sourceFiles(folder)).toEqual({ files: ['agent.py'], links: ['passwd'] });
});

it('is refused when there is nothing in it, and when it is none', async () => {
  write({ '.gitignore': '*\n', 'agent.py': '' });
  await expect(sourceFiles(folder)).rejects.toThrow(/There is nothing to deploy in/);
  await expect(sourceFiles(join(folder, 'agent.py'))).rejects.toThrow(/cannot be read \(ENOTDIR\)/);
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
