import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { OPERATOR } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { appears, ConsoleWalk } from '../testing/console/console-walk';
import { installedProgram, installedPythonProgram, run } from '../testing/langgraph-cli';
import { pythonWithOlderSdk, pythonWithSdk } from '../testing/langsmith-python';
import { upload } from '../testing/tenant-things';

/** The addresses in the output of the incumbent's clients: each is opened, and its page names what the address is of. */

const PROGRAMS = join(__dirname, '../testing/printed');
/** For 127.0.0.1 the SDKs print addresses of another server, unless they are told where the pages are. */
const ELSEWHERE = '127.0.0.2';
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** An address, and what stands before it in its line. */
const PRINTED = /^(?:(.+)\t)?.*?(https?:\/\/[^\s"]+)/gm;
const [DATASET, BASE, NEXT] = ['questions', 'the first model', 'the second model'] as const;
const ROW_ID = 'a0000000-0000-4000-8000-000000000001';

/** The addresses of every SDK, with stars for ids. */
const OF_SDKS = [
  '/o/*/datasets/*',
  '/o/*/datasets/*/compare?selectedSessions=*',
  '/o/*/datasets/*/compare?selectedSessions=*%2C*&comparativeExperiment=*',
  '/o/*/projects/p/*',
  '/o/*/projects/p/*/r/*',
  '/o/*/projects/p/*/r/*?poll=true',
  '/public/*/d',
  '/public/*/r',
];

let walk: ConsoleWalk;
let page: Page;
let door: Server;
let home: string;

/** Opens each address of an output, and answers their kinds. */
async function opened(output: string, origin: string): Promise<string[]> {
  const kinds = new Set<string>();
  for (const [line, shown, address] of output.matchAll(PRINTED)) {
    expect({ line, ours: address!.startsWith(`${origin}/`) }).toEqual({ line, ours: true });
    await page.goto(address!);
    const names = shown === undefined ? namesIn(address!) : [shown];
    for (const name of names) {
      const one = names.length === 1;
      await appears(one ? page.getByRole('heading', { level: 1, name }) : page.getByRole('columnheader', { name }));
    }
    kinds.add(address!.slice(origin.length).replaceAll(ID, '*'));
  }
  return [...kinds].sort();
}

/** Experiments that the page at an address of an evaluation names: its own one, or the two that it compares. */
function namesIn(address: string): RegExp[] {
  const experiments = new URL(address).searchParams.get('selectedSessions')?.split(',').length;
  return experiments === 2 ? [RegExp(BASE), RegExp(NEXT)] : [/live/];
}

async function signedIn(origin: string): Promise<void> {
  await page?.context().close();
  page = await walk.open({ baseURL: origin });
  await walk.signIn(page);
}

inBrowser('The addresses that clients print', () => {
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'fairlead-printed-'));
    walk = await ConsoleWalk.start();
    const { installation } = walk;
    for (const name of [BASE, NEXT]) {
      const { results, ...body } = upload(name);
      const sent = { ...body, dataset_name: DATASET, results: [{ ...results[0], row_id: ROW_ID }] };
      const { experiment } = await installation.ask('POST', '/api/v1/datasets/upload-experiment', sent);
      await until(async () => {
        const { run_count } = await installation.ask('GET', `/api/v1/sessions/${experiment.id}`);
        return run_count === 1;
      });
    }
  });

  afterAll(async () => {
    door?.close();
    await walk?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  describe('of SDKs', () => {
    let origin: string;

    beforeAll(async () => {
      const port = Number(new URL(walk.installation.url).port);
      door = createServer((socket) => {
        const service = connect(port, '127.0.0.1');
        pipeline(socket, service, socket, () => socket.destroy());
      });
      await new Promise<void>((listening) => door.listen(0, ELSEWHERE, listening));
      origin = `http://${ELSEWHERE}:${(door.address() as AddressInfo).port}`;
      await signedIn(origin);
    });

    /** Output of a program that is given the address of the service and a key. */
    async function printed(program: string, args: readonly string[]): Promise<string> {
      const { code, output, errors } = await run(program, [...args, DATASET, BASE, NEXT], PROGRAMS, {
        PATH: process.env.PATH!,
        PYTHONDONTWRITEBYTECODE: '1',
        LANGSMITH_ENDPOINT: `${origin}/api/v1`,
        LANGSMITH_API_KEY: OPERATOR,
        LANGSMITH_TRACING: 'true',
      });
      expect({ code, errors }).toMatchObject({ code: 0 });
      return output;
    }

    it.each(['langsmith', 'langsmith-0.12'])('%s for JavaScript', async (sdk) => {
      const output = await printed(process.execPath, ['addresses.mjs', sdk]);
      expect(await opened(output, origin)).toEqual([...OF_SDKS, '/o/*/projects/p/*/r/*?trace_id=*'].sort());
    });

    const withSdk = { '0.15.0': pythonWithSdk(), '0.4.46': pythonWithOlderSdk() };
    for (const [version, python] of Object.entries(withSdk)) {
      const why = python === undefined ? ' (skipped: it is not installed)' : '';
      (python === undefined ? it.skip : it)(`langsmith ${version} for Python${why}`, async () => {
        const output = await printed(python!, ['addresses.py']);
        expect(await opened(output, origin)).toEqual([...OF_SDKS, '/o/*/datasets/*/e/*'].sort());
      });
    }
  });

  describe('of command lines', () => {
    beforeAll(async () => {
      writeFileSync(join(home, 'langgraph.json'), JSON.stringify({ dependencies: ['.'], graphs: { a: './a.py:a' } }));
      writeFileSync(join(home, 'a.py'), 'a = {}\n');
      await signedIn(walk.installation.url);
    });

    const programs = {
      '@langchain/langgraph-cli': { program: process.execPath, entry: installedProgram() },
      'langgraph-cli for Python': { program: installedPythonProgram(), entry: '' },
    };
    for (const [client, { program, entry }] of Object.entries(programs)) {
      const missing = program === undefined || entry === undefined;
      (missing ? it.skip : it)(`${client}${missing ? ' (skipped: it is not installed)' : ''}`, async () => {
        const { url } = walk.installation;
        for (const path of ['', '/api-host']) {
          const name = `by-${client.replaceAll(/\W+/g, '-')}${path.replace('/', '-')}`;
          const args = ['deploy', '--remote', '--no-input', '--no-wait', '--name', name, '--host-url', url + path];
          const said = await run(program!, entry ? [entry, ...args] : args, home, {
            ...{ PATH: '/bin:/usr/bin', HOME: home, NO_COLOR: '1' },
            ...{ LANGSMITH_API_KEY: OPERATOR, LANGGRAPH_CLI_NO_ANALYTICS: '1' },
          });
          expect(said).toMatchObject({ code: 0 });
          const kinds = await opened(said.output.replaceAll(/^.*(?=http)/gm, `${name}\t`), url);
          expect(kinds.map((kind) => kind.replace('/api-host/', '/'))).toEqual(['/o/*/host/deployments/*']);
        }
      });
    }
  });
});
