/// <reference types="node" />
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sourceFiles as filesOfCommandLine } from '../../../../../cli/src/deployments/source-folder';
import { pack } from './pack';
import { chosenFolder, type Entry, sourceFiles } from './source-files';

/** This file compares an archive that a browser packs with one by the command line, and one by the system's tar. */

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-console-source-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function files(of: string, within = ''): string[] {
  return readdirSync(join(of, within), { withFileTypes: true }).flatMap((entry) => {
    const path = join(within, entry.name);
    return entry.isDirectory() ? files(of, path) : [path];
  });
}

/** The files of the folder, as a browser gives them when the folder is chosen. */
function chosen(): File[] {
  return files(folder).map((path) => {
    const { mtimeMs } = statSync(join(folder, path));
    const file = new File([readFileSync(join(folder, path))], path.split('/').at(-1)!, { lastModified: mtimeMs });
    return Object.assign(file, { webkitRelativePath: `agent/${path}` });
  });
}

async function unpacked(packed: Blob, look: (at: string) => void): Promise<void> {
  const at = mkdtempSync(join(tmpdir(), 'fairlead-console-unpacked-'));
  try {
    execFileSync('tar', ['-xzf', '-', '-C', at], { input: new Uint8Array(await packed.arrayBuffer()) });
    look(at);
  } finally {
    rmSync(at, { recursive: true });
  }
}

const packing = () => ({ signal: new AbortController().signal, onBytes: () => undefined });

it('sends the files that the command line sends', async () => {
  write({
    ...{ 'langgraph.json': '{}', 'src/agent.ts': '', 'src/.hidden': '', '.env.example': '' },
    ...{ '.git/HEAD': '', 'node_modules/a/index.js': '', 'src/node_modules/b.js': '', '.venv/c': '' },
    ...{ 'src/__pycache__/d': '', '.langgraph_api/e': '', '.env': 'KEY=1', 'src/.env.local': 'KEY=2' },
    ...{ '.gitignore': '*.log\n/build\n!keep.log\n', '.dockerignore': 'docs\n' },
    ...{
      'web/.gitignore': '# of this folder only\n/build/\n!loud.log\n*.tmp\n',
      'web/build/x': '',
      'web/loud.log': '',
    },
    ...{ 'a.log': '', 'keep.log': '', 'build/x': '', 'docs/page.md': '', 'sub/build/kept': '', 'a.tmp': '' },
    ...{ 'web/b.log': '', 'web/sub/b.tmp': '', 'web/index.html': '', größe: '', Zebra: '' },
  });
  const source = await sourceFiles(chosenFolder(chosen()));
  expect(source.files.map(({ path }) => path)).toEqual((await filesOfCommandLine(folder)).files);
  const left = (await filesOfCommandLine(folder)).leftOut;
  expect(source.leftOut).toEqual(left);
  expect(left.map(({ path }) => path)).toEqual([
    ...['.env', '.git/', '.langgraph_api/', '.venv/', 'a.log', 'build/', 'docs/', 'node_modules/'],
    ...['src/.env.local', 'src/__pycache__/', 'src/node_modules/', 'web/b.log', 'web/build/', 'web/sub/b.tmp'],
  ]);
  expect(source.bytes).toBe(source.files.reduce((sum, { path }) => sum + statSync(join(folder, path)).size, 0));
});

it('does not look into folders that are left out', async () => {
  const opened: string[] = [];
  const entry = (name: string, inner: readonly Entry[]): Entry => ({
    name,
    entries: async () => (opened.push(name), inner),
  });
  const file: Entry = { name: 'index.js', file: async () => new File(['1'], 'index.js') };
  await sourceFiles(entry('agent', [entry('node_modules', [entry('a', [file])]), entry('src', [file])]));
  expect(opened).toEqual(['agent', 'src']);
});

it('refuses what holds nothing, and what is too large, before it is packed', async () => {
  write({ '.gitignore': '*\n', 'agent.py': '' });
  await expect(sourceFiles(chosenFolder(chosen()))).rejects.toThrow('There is nothing to deploy in agent.');
  expect(() => chosenFolder([])).toThrow(/Nothing was chosen/);
  const large = { name: 'model.bin', size: 1024 ** 3 + 1 } as File;
  const entries = async () => [{ name: large.name, file: async () => large }];
  await expect(sourceFiles({ name: 'agent', entries })).rejects.toThrow(/^agent has more than 20,000 files or 1 GiB/);
  const many = Array.from({ length: 20_001 }, (_, at) => ({ name: `${at}`, file: async () => new File([], `${at}`) }));
  await expect(sourceFiles({ name: 'agent', entries: async () => many })).rejects.toThrow(/^agent has more than/);
});

it('packs files whatever they hold and are called, with their times, and scripts as programs', async () => {
  const names = ['-rf', 'a b', "it's", 'größe', 'line\nbreak', `${'long/'.repeat(30)}name`, `${'ö'.repeat(60)}`];
  // A name whose member has 99 bytes without its length, so that the length has a digit more than it seems to need.
  for (let length = 85; length < 105; length++) names.push('ä' + 'x'.repeat(length));
  write(Object.fromEntries(names.map((name) => [name, name])));
  write({ empty: '', 'a block': 'x'.repeat(512), 'three blocks': 'y'.repeat(1025), 'run.sh': '#!/bin/sh\n' });
  chmodSync(join(folder, 'run.sh'), 0o755);
  const source = await sourceFiles(chosenFolder(chosen()));
  let bytes = 0;
  const packed = await pack(source.files, { ...packing(), onBytes: (count) => (bytes += count) });
  expect([packed.type, bytes]).toEqual(['application/gzip', source.bytes]);
  await unpacked(packed, (at) => {
    const found = (of: string) =>
      Object.fromEntries(
        files(of).map((path) => {
          const { mtimeMs, mode } = statSync(join(of, path));
          const text = readFileSync(join(of, path), 'utf8');
          return [path, { text, seconds: Math.floor(mtimeMs / 1000), executable: (mode & 0o100) !== 0 }];
        }),
      );
    expect(found(at)).toEqual(found(folder));
  });
});

it('ends when it is too large, when it is not wanted any more, and when a file changes', async () => {
  // Random bytes, which do not become fewer.
  const large = new File([crypto.getRandomValues(new Uint8Array(65_536))], 'large.bin');
  const most = 60_000;
  await expect(pack([{ path: 'large.bin', file: large }], { ...packing(), most })).rejects.toThrow(/more than 200 MiB/);
  const stop = new AbortController();
  const never = pack([{ path: 'large.bin', file: large }], { signal: stop.signal, onBytes: () => stop.abort() });
  await expect(never).rejects.toThrow(/abort/);
  const file = new File(['short'], 'a');
  Object.defineProperty(file, 'size', { value: 7 });
  await expect(pack([{ path: 'a', file }], packing())).rejects.toThrow('a has changed while it was packed.');
});
