import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Installation } from '@fairlead/service/testing';

const ROOT = resolve(__dirname, '../../..');
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter(
  (page) => page.endsWith('.md') && commandsOf(page) !== '',
);

let installation: Installation;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-docs-'));
  // A reader is given a key, in the folder where the service was started.
  const settings = { FAIRLEAD_DATA_DIR: join(folder, '.fairlead'), FAIRLEAD_API_KEY: undefined };
  installation = await Installation.start({ ...settings, OUTBOUND_ALLOW: '127.0.0.1' });
  symlinkSync(join(ROOT, 'docs'), join(folder, 'docs'));
  mkdirSync(join(folder, 'home'));
  putOnPath('fairlead', `node -r ${ROOT}/tools/test/typescript.cjs ${ROOT}/apps/cli/src/main.ts`);
});
afterEach(async () => {
  await installation.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(pages)(
  'every command of %s works, twice on one installation, and leaves no files where the service was started',
  async (page) => {
    const script = commandsOf(page).replaceAll('http://127.0.0.1:4600', installation.url);
    const before = readdirSync(folder);
    for (const time of ['first', 'second']) {
      const { code, said } = await bash(script);
      expect({ time, code, said: code === 0 ? '' : said }).toEqual({ time, code: 0, said: '' });
    }
    expect(readdirSync(folder)).toEqual(before);
  },
  240_000,
);

/** The `sh` blocks of a page, one after the other. */
function commandsOf(page: string): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n');
}

/** The command line, which is built when a reader uses it, runs from its sources here. */
function putOnPath(name: string, command: string): void {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
}

function bash(script: string): Promise<{ code: number; said: string }> {
  return new Promise((settle) => {
    const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
    const env = { ...process.env, PATH, HOME: join(folder, 'home') };
    const child = execFile(
      'bash',
      ['-euo', 'pipefail', '-x'],
      { cwd: folder, env, timeout: 100_000, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        settle({ code: error ? Number(error.code ?? 1) : 0, said: `${stderr}\n${stdout}`.slice(-4000) });
      },
    );
    child.stdin!.end(script);
  });
}
