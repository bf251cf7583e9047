import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { runProgram } from '../../command/child-process';
import { AppProcess } from './app-process';
import { ControlGroups, type Controller, type GroupLimits, groupOf } from './control-groups.client';
import { isRunning } from './process-use.client';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-groups-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const V1 = '33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct';
const V2 = '41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw';
const INSIDE = '33 31 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct';

it.each([
  ['a group of version 1', V1, '3:cpu,cpuacct:/a/b\n0::/', 'cpu', '/sys/fs/cgroup/cpu/a/b'],
  ['a container with version 1', INSIDE, '3:cpu,cpuacct:/docker/abc', 'cpu', '/sys/fs/cgroup/cpu'],
  ['another controller of version 1', V1, '3:cpu,cpuacct:/a/b\n0::/', 'pids', undefined],
  ['version 2 beside version 1', `${V1}\n${V2}`, '3:cpu,cpuacct:/\n0::/x', undefined, '/sys/fs/cgroup/x'],
  ['a service of version 2', V2, '0::/system.slice/a.service', undefined, '/sys/fs/cgroup/system.slice/a.service'],
  ['the root of version 2', V2, '0::/', undefined, '/sys/fs/cgroup'],
  ['a group outside of what is mounted', INSIDE, '3:cpu,cpuacct:/', 'cpu', undefined],
  ['no groups', '30 1 0:1 / / rw - ext4 /dev/vda rw', '0::/', undefined, undefined],
] as const)('the group of the server is found in %s', (_, mounts, groups, controller, found) => {
  expect(groupOf(mounts, groups, controller)).toBe(found);
});

/** Groups in a folder that has the files of version 2, as far as a folder can. */
function groupsIn(own: string, isService = true): ControlGroups {
  const mounts = `41 31 0:38 / ${folder} rw - cgroup2 cgroup2 rw`;
  return new ControlGroups('root', (file) => (file === 'cgroup' ? `0::${own}` : mounts), isService);
}

const text = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');

/** Makes a folder with the files that a group has. */
function group(path: string, files: Readonly<Record<string, string>> = {}): void {
  mkdirSync(join(folder, path), { recursive: true });
  const all = { 'cgroup.type': 'domain', 'cgroup.controllers': 'cpu memory pids', 'cgroup.procs': '', ...files };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, path, name), content);
}

const LIMITS = { 'cpu.max': 'max 100000', 'memory.max': 'max', 'memory.swap.max': 'max', 'pids.max': 'max' };

it.each([
  ['the root', '/', ''],
  ['a service', '/system.slice/a.service', '/system.slice/a.service'],
  ['a service whose processes have moved', '/system.slice/a.service/fairlead-server', '/system.slice/a.service'],
  ['a session', '/user.slice/session-3.scope', '/user.slice'],
])('version 2 has the groups of programs where they may have limits: a server in %s', (_, own, place) => {
  for (const path of ['/system.slice', '/user.slice', own]) group(path);
  if (own === '/') rmSync(join(folder, 'cgroup.type'));
  else writeFileSync(join(folder, 'cgroup.procs'), '');
  const groups = groupsIn(own);
  group(join(place, groups.name), LIMITS);
  expect(groups.begin()).toEqual(new Set<Controller>(['cpu', 'memory', 'pids']));
  expect(Number(text(place, groups.name, 'memory.max'))).toBeGreaterThan(0);
});

it('the service that a person has started the server from, such as sshd, keeps its processes', () => {
  for (const path of ['/system.slice', '/system.slice/ssh.service']) group(path);
  writeFileSync(join(folder, 'cgroup.procs'), '');
  const groups = groupsIn('/system.slice/ssh.service', false);
  group(join('/system.slice', groups.name), LIMITS);
  expect(groups.begin()).toEqual(new Set<Controller>(['cpu', 'memory', 'pids']));
  expect(existsSync(join(folder, 'system.slice/ssh.service/fairlead-server'))).toBe(false);
});

it('a group with processes that the server cannot see does not end the server', () => {
  group('/', { 'cgroup.procs': '' });
  rmSync(join(folder, 'cgroup.type'));
  const groups = groupsIn('/');
  group(groups.name, LIMITS);
  group(join(groups.name, 'left'), { 'cgroup.procs': '0\n' });
  const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
  try {
    groups.begin();
    expect(kill).not.toHaveBeenCalled();
  } finally {
    kill.mockRestore();
  }
});

it('without the controllers of version 2 nothing is limited, and nothing moves', () => {
  group('/system.slice/a.service', { 'cgroup.controllers': 'hugetlb' });
  expect(groupsIn('/system.slice/a.service').begin()).toEqual(new Set());
  expect(existsSync(join(folder, 'system.slice/a.service/fairlead-server'))).toBe(false);
});

it('a program runs without a limit where no group can be made', async () => {
  const nowhere = new ControlGroups(folder, () => '');
  expect(nowhere.begin()).toEqual(new Set());
  const free = nowhere.limit(process.pid, { cores: 0.1, memory: 1, processes: 1 });
  expect([free.holdsMemory, free.memory(), free.explain('ended')]).toEqual([false, undefined, 'ended']);
  await free.end();
  await nowhere.end();
});

// A run beside this one has groups of its own.
const groups = new ControlGroups(randomUUID());
const held = groups.begin();
const reason = held.size === 3 ? '' : ' (skipped: this process may not make control groups for all of them)';
const whereHeld = held.size === 3 ? it : it.skip;
afterAll(() => groups.end());

const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };

whereHeld(`limits hold after a server that was killed${reason}`, async () => {
  const root = randomUUID();
  new ControlGroups(root).begin();
  const after = new ControlGroups(root);
  expect(after.begin()).toEqual(held);
  await after.end();
});

/** A program with limits, and what it has written. */
function start(command: string, limits: GroupLimits): { readonly program: AppProcess; readonly said: () => string } {
  let said = '';
  const limit = (pid: number) => groups.limit(pid, limits);
  const words = ['/bin/sh', '-c', command];
  return { program: new AppProcess({ words, port: 0, env, limit }, (_, told) => (said += told)), said: () => said };
}

/** The text of the files of that name in the groups of programs, as far as these are there. */
function files(name: string): string[] {
  const [mounts, own] = ['mountinfo', 'cgroup'].map((file) => readFileSync(`/proc/self/${file}`, 'utf8')) as [
    string,
    string,
  ];
  const second = groupOf(mounts, own);
  const first = (['cpu', 'memory', 'pids'] as const).map((controller) => groupOf(mounts, own, controller));
  const places = new Set([...first, second, second && dirname(second)].flatMap((place) => place ?? []));
  return [...places].flatMap((place) =>
    ifThere(() => readdirSync(join(place, groups.name), { withFileTypes: true }))
      .flat()
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => ifThere(() => readFileSync(join(place, groups.name, entry.name, name), 'utf8'))),
  );
}

/** Result of `read`; empty when a group is removed meanwhile. */
function ifThere<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}

/** It uses all the processor time that it gets, in a process of another process group, too. */
const BUSY = `setsid sh -c 'echo $$; while :; do :; done' & while :; do :; done`;

whereHeld(`a program with all that it starts gets the processor time of its sizes${reason}`, async () => {
  const { program, said } = start(BUSY, { cores: 0.05 });
  try {
    await until(() => files('cpu.stat').some((stat) => Number(/nr_throttled (\d+)/.exec(stat)?.[1]) > 2));
    await until(() => said().includes('\n'));
    expect(files('cgroup.procs').join('\n').split('\n')).toContain(said().trim());
  } finally {
    await program.stop();
  }
  expect(isRunning(Number(said()))).toBe(false);
  expect(files('cgroup.procs')).toEqual([]);
});

const HOG = `node -e 'const held = []; setInterval(() => held.push(Buffer.alloc(20e6, 1)), 5)'`;

whereHeld.each([
  ['itself', `exec ${HOG}`],
  ['in a process of another group', `setsid ${HOG} & while :; do sleep 1; done`],
])(`a program that takes too much memory %s is ended, and says why${reason}`, async (_, command) => {
  const { program } = start(command, { memory: 150e6 });
  expect(await program.ended).toBe('used more memory than its limit of 150 MB');
  expect(files('cgroup.procs')).toEqual([]);
});

/** A process that starts others, each in a process group of its own, until it cannot. */
const bomb = (then: string) => `exec node -e '
const more = () => require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" })
  .on("spawn", more).on("error", () => ${then});
more();
'`;

whereHeld(`a program that starts processes without end gets no more than its limit${reason}`, async () => {
  const { program, said } = start(bomb('setInterval(() => undefined, 1000)'), { processes: 100 });
  await until(() => said().includes('It has reached its limit of 100 processes and threads.\n'));
  expect(Math.max(...files('pids.current').map(Number))).toBeLessThanOrEqual(100);
  await program.stop();
  expect(files('cgroup.procs')).toEqual([]);
});

whereHeld(`a build that starts processes without end fails, and says why${reason}`, async () => {
  const limit = (pid: number) => groups.limit(pid, { processes: 100 });
  const words = ['/bin/sh', '-c', bomb('process.exit(3)')];
  const step = {
    signal: new AbortController().signal,
    safe: (text: string) => text,
    waits: async () => undefined,
    log: async () => undefined,
    output: () => ({ write: async () => undefined, end: async () => undefined }),
  };
  await expect(runProgram({ words, cwd: '/', env, watched: true, limit }, step)).rejects.toThrow(
    'The command ended with exit code 3, after it had reached its limit of 100 processes and threads.',
  );
  expect(files('cgroup.procs')).toEqual([]);
});
