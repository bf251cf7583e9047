import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutboundResolver, type ResolverOptions } from './outbound-resolver';
import { NameServer } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';

const KNOWN = '93.184.216.34';
let server: NameServer;
beforeEach(async () => {
  server = await NameServer.start({ 'code.example': KNOWN });
});
afterEach(() => server.stop());

const resolver = (options: Partial<ResolverOptions> = {}) =>
  new OutboundResolver({ servers: [server.address], deadline: 300, hostsFile: '/nowhere', ...options });
const code = (found: Promise<unknown>) =>
  found.then(String, (error: { code?: string }) => error.code ?? (error as Error).message);

it('finds the address of a name', async () => {
  expect(await resolver({ deadline: 30_000 }).resolve('code.example', 'w')).toEqual([{ address: KNOWN, family: 4 }]);
});

it('gives up on names whose name server is silent, and keeps nothing of them', async () => {
  const found = resolver({ most: 8, mostPerWorkspace: 8 });
  const names = Array.from({ length: 60 }, (_, n) => `dead-${n}.example`);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, found.pending)), 5);
  const codes = await Promise.all(names.map((name) => code(found.resolve(name, 'w'))));
  clearInterval(watch);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(8);
  // What found no place in time was not looked up at all.
  expect(new Set(codes)).toEqual(new Set(['ETIMEOUT', 'No place became free in time.']));
  expect(found.pending).toBe(0);
});

it('makes one lookup for all who ask for a name, and does not repeat one that just failed', async () => {
  const found = resolver({ deadline: 600, remembered: 60_000 });
  const asking = Array.from({ length: 50 }, (_, n) => code(found.resolve('dead.example', `w${n % 7}`)));
  expect(new Set(await Promise.all(asking)).size).toBe(1);
  // One question for each kind of address, each sent twice at most.
  const sent = server.asked.length;
  expect(sent).toBeLessThanOrEqual(4);
  expect(await code(found.resolve('dead.example', 'another'))).toBe(await asking[0]);
  expect(server.asked).toHaveLength(sent);
});

it('looks a name up again some time after it failed', async () => {
  const found = resolver({ remembered: 0 });
  await code(found.resolve('dead.example', 'w'));
  const sent = server.asked.length;
  await code(found.resolve('dead.example', 'w'));
  // The lookup may be over before its packets have been read.
  await until(() => server.asked.length > sent);
});

it('does not let the dead names of one workspace delay another workspace', async () => {
  const found = resolver({ deadline: 6_000, mostPerWorkspace: 4 });
  const dead = Array.from({ length: 300 }, (_, n) => code(found.resolve(`dead-${n}.example`, 'hostile')));
  expect(await found.resolve('code.example', 'w')).toEqual([{ address: KNOWN, family: 4 }]);
  // The name is answered to others although the hostile workspace waits for it behind its own.
  void code(found.resolve('code.example', 'hostile'));
  expect(await found.resolve('code.example', 'w')).toEqual([{ address: KNOWN, family: 4 }]);
  expect(found.pending).toBe(4);
  await Promise.all(dead);
});

it('honours the hosts file and localhost without a question', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
  const hostsFile = join(folder, 'hosts');
  await writeFile(hostsFile, '# ours\n10.1.2.3 git.corp Git  # inside\n::2\tgit.corp\n\nnonsense line\n');
  const found = resolver({ hostsFile });
  expect(await found.resolve('git.corp', 'w')).toEqual([
    { address: '10.1.2.3', family: 4 },
    { address: '::2', family: 6 },
  ]);
  expect(await found.resolve('git', 'w')).toEqual([{ address: '10.1.2.3', family: 4 }]);
  expect(await found.resolve('localhost', 'w')).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  expect(server.asked).toEqual([]);
  await rm(folder, { recursive: true });
});
