import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Installation, startByDefault } from '@fairlead/service/testing';

const ROOT = resolve(__dirname, '../../../..');
/** Ends what a block printed. */
const MARK = '-- end of block --';
/** A page may start the command line fifty times, each time from its sources. */
const RUN_MS = 900_000;
/** A usual run carries out each page once; `npm run test:faults` does it twice on one installation. */
const TIMES = process.env.FAIRLEAD_FAULTS === 'full' ? ['first', 'second'] : ['first'];
const SHELVES = ['start', 'guides', 'reference', 'explained'];
const pages = [
  'README.md',
  ...SHELVES.flatMap((shelf) => readdirSync(join(ROOT, 'docs', shelf)).map((name) => `docs/${shelf}/${name}`)),
].filter((page) => page.endsWith('.md') && blocksOf(page).length > 0);

let installation: Installation;
let folder: string;

/** Starts the service as its reader does: with `npm start`, or with the executor that the page names. */
async function startFor(page: string): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-docs-'));
  // A reader is given a key, in the folder where the service was started.
  const settings = { FAIRLEAD_DATA_DIR: join(folder, '.fairlead'), FAIRLEAD_API_KEY: undefined };
  const isRecorded = readFileSync(join(ROOT, page), 'utf8').includes('`EXECUTOR=record npm start`');
  const started = { ...settings, ...(isRecorded && { EXECUTOR: 'record' }), OUTBOUND_ALLOW: '127.0.0.1' };
  installation = await Installation.start(started, startByDefault);
  symlinkSync(join(ROOT, 'docs'), join(folder, 'docs'));
  mkdirSync(join(folder, 'home'));
  putOnPath('fairlead', `node -r ${ROOT}/tools/test/typescript.cjs ${ROOT}/apps/cli/src/main.ts`);
  putOnPath('npx', '');
}
afterEach(async () => {
  await installation.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(pages)(
  'every command of %s works, and again where that is tried, and leaves no files where the service was started',
  async (page) => {
    await startFor(page);
    const blocks = blocksOf(page);
    const atHand = (text: string) => text.replaceAll('http://127.0.0.1:4600', installation.url);
    const script = atHand(commandsOf(page));
    const before = readdirSync(folder);
    for (const time of TIMES) {
      const { code, said, printed } = await bash(script);
      expect({ time, code, said: code === 0 ? '' : said }).toEqual({ time, code: 0, said: '' });
      for (const [number, { output }] of blocks.entries()) {
        if (output !== undefined) expect(withoutSpace(printed[number]!)).toMatch(asShown(atHand(output)));
      }
    }
    expect(readdirSync(folder)).toEqual(before);
  },
  2.5 * RUN_MS,
);

/** The `sh` blocks of a page, each with the `text` block that shows what it prints, where one is the next block. */
function blocksOf(page: string): { readonly commands: string; readonly output?: string }[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, kind, inner]) => ({ kind, inner: inner! }));
  return blocks.flatMap(({ kind, inner }, index) => {
    const next = blocks[index + 1];
    return kind === 'sh' ? [{ commands: inner, ...(next?.kind === 'text' && { output: next.inner }) }] : [];
  });
}

/** One script of all `sh` blocks of a page, which ends the output of each with a mark. */
function commandsOf(page: string): string {
  return blocksOf(page)
    .map(({ commands }) => `${commands}echo '${MARK}'\n`)
    .join('');
}

/**
 * Pattern of a shown output in the printed one, both without white space, since a terminal breaks lines elsewhere: `…`,
 * with the letters before it, stands for anything; a time and an id for any other.
 */
function asShown(output: string): RegExp {
  const escaped = withoutSpace(output).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const patterns = [
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\\\.\d+)?Z/g, '[\\d:.TZ-]+'],
    [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}'],
    [/[\w-]*…/g, '[^]*?'],
  ] as const;
  return new RegExp(patterns.reduce((text, [shown, pattern]) => text.replaceAll(shown, pattern), escaped));
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** The command line, which is built when a reader uses it, runs from its sources here, also by way of npx. */
function putOnPath(name: string, command: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
}

interface Ended {
  readonly code: number;
  /** The last of the commands and of what they printed. */
  readonly said: string;
  /** Output of each block. */
  readonly printed: readonly string[];
}

function bash(script: string): Promise<Ended> {
  return new Promise((settle) => {
    const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
    // Where the command line looks for a server by itself.
    const FAIRLEAD_URL = installation.url;
    const env = { ...process.env, PATH, FAIRLEAD_URL, HOME: join(folder, 'home'), BASH_XTRACEFD: '9' };
    const child = execFile(
      'bash',
      // The commands themselves go another way than what they print.
      ['-c', 'exec 9>&2 2>&1; exec bash -euo pipefail -x'],
      { cwd: folder, env, timeout: RUN_MS, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        const code = error ? Number(error.code ?? 1) : 0;
        settle({ code, said: `${stderr}\n${stdout}`.slice(-4000), printed: stdout.split(`${MARK}\n`) });
      },
    );
    child.stdin!.end(script);
  });
}
