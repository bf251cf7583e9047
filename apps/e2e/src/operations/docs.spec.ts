import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SCOPES } from '@fairlead/api';
import { Installation, startByDefault } from '@fairlead/service/testing';

const ROOT = resolve(__dirname, '../../../..');
/** Ends what a block printed. */
const MARK = '-- end of block --';
/** Keeps letters apart from what follows them. */
const APART = '\u0001';
/** A page may start the command line fifty times, each time from its sources. */
const RUN_MS = 900_000;
/** A usual run carries out each page once; `npm run test:faults` does it twice on one installation. */
const TIMES = process.env.FAIRLEAD_FAULTS === 'full' ? ['first', 'second'] : ['first'];
const SETTINGS = { OUTBOUND_ALLOW: '127.0.0.1' };
const SHELVES = ['start', 'guides', 'reference', 'explained'];
const pages = [
  'README.md',
  ...SHELVES.flatMap((shelf) => readdirSync(join(ROOT, 'docs', shelf)).map((name) => `docs/${shelf}/${name}`)),
].filter((page) => page.endsWith('.md') && blocksOf(page).length > 0);

/**
 * Pages that need an installation of their own. Every other one has a workspace of an installation that they share and
 * that records deployments, which is also what `npm start` does where there are several workspaces.
 */
const ALONE: Readonly<Record<string, string>> = {
  'README.md': 'its deployments run on this machine, for which there can be one workspace only',
  'docs/start/first-ten-minutes.md': 'the deployment of the demo runs on this machine',
  'docs/start/troubleshooting.md': 'it shows the key of the installation and lists what is parked',
  'docs/guides/events.md': 'it lists what is parked in the installation',
  'docs/guides/keys-and-tenants.md': 'it creates workspaces and suspends one',
  'docs/reference/cli.md': 'it shows the key of the installation',
};

/** The installation that pages share, once one of them has been tried. */
let shared: Promise<Installation> | undefined;
let alone: Installation | undefined;
/** Address of the installation of the page. */
let url: string;
/** Where the reader of the page started the service. */
let folder: string;

/** Gives a page what its reader has: a service that runs, and its key in the folder where it was started. */
async function startFor(page: string): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-docs-'));
  const data = join(folder, '.fairlead');
  if (page in ALONE) {
    const isRecorded = readFileSync(join(ROOT, page), 'utf8').includes('`EXECUTOR=record npm start`');
    const own = { FAIRLEAD_DATA_DIR: data, FAIRLEAD_API_KEY: undefined, ...(isRecorded && { EXECUTOR: 'record' }) };
    alone = await Installation.start({ ...own, ...SETTINGS }, startByDefault);
    url = alone.url;
  } else {
    const installation = await (shared ??= Installation.start({ EXECUTOR: 'record', ...SETTINGS }, startByDefault));
    mkdirSync(data);
    writeFileSync(join(data, 'api-key'), await keyOfWorkspace(installation, page));
    url = installation.url;
  }
  symlinkSync(join(ROOT, 'docs'), join(folder, 'docs'));
  mkdirSync(join(folder, 'home'));
  putOnPath('fairlead', `node -r ${ROOT}/tools/test/typescript.cjs ${ROOT}/apps/cli/src/main.ts`);
  putOnPath('npx', '');
}

/** Creates a workspace, and returns a key of it that may do everything there. */
async function keyOfWorkspace(installation: Installation, display_name: string): Promise<string> {
  const { id } = await installation.ask('POST', '/api/v1/workspaces', { display_name });
  const draft = { description: display_name, scopes: SCOPES };
  return (await installation.ask('POST', '/api/v1/api-key', draft, { 'x-tenant-id': id })).key;
}

afterEach(async () => {
  await alone?.stop();
  alone = undefined;
  rmSync(folder, { recursive: true, force: true });
});
afterAll(async () => (await shared)?.stop());

it.each(pages)(
  'every command of %s works, and again where that is tried, and leaves no files where the service was started',
  async (page) => {
    await startFor(page);
    const blocks = blocksOf(page);
    const atHand = (text: string) => text.replaceAll('http://127.0.0.1:4600', url);
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
 * with the letters before it, stands for anything, but for a text between two of them; a time and an id for any other.
 */
function asShown(output: string): RegExp {
  const kept = output.replaceAll(/^….+…$/gm, (line) => line.replaceAll('…', `${APART}…`));
  const escaped = withoutSpace(kept).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const patterns = [
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\\\.\d+)?Z/g, '[\\d:.TZ-]+'],
    [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}'],
    [/[\w-]*…/g, '[^]*?'],
  ] as const;
  const whole = patterns.reduce((text, [shown, pattern]) => text.replaceAll(shown, pattern), escaped);
  return new RegExp(whole.replaceAll(APART, ''));
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
    const env = { ...process.env, PATH, FAIRLEAD_URL: url, HOME: join(folder, 'home'), BASH_XTRACEFD: '9' };
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
