import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { AppProcess } from './app.process';
import { CpuLimits, placeOf } from './cpu-limits.process';
import { isRunning } from './process-use.watch';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-cpu-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const V1 = '33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct';
const V2 = '41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw';
const INSIDE = '33 31 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct';

it.each([
  ['a group of version 1', V1, '3:cpu,cpuacct:/a/b\n0::/', { folder: '/sys/fs/cgroup/cpu/a/b', version: 1 }],
  ['a container with version 1', INSIDE, '3:cpu,cpuacct:/docker/abc', { folder: '/sys/fs/cgroup/cpu', version: 1 }],
  ['both versions', `${V2}\n${V1}`, '3:cpu,cpuacct:/\n0::/x', { folder: '/sys/fs/cgroup/cpu', version: 1 }],
  ['a service of version 2', V2, '0::/system.slice/a.service', { folder: '/sys/fs/cgroup/system.slice', version: 2 }],
  ['the root of version 2', V2, '0::/', { folder: '/sys/fs/cgroup', version: 2 }],
  ['a group outside of what is mounted', INSIDE, '3:cpu,cpuacct:/', undefined],
  ['no groups', '30 1 0:1 / / rw - ext4 /dev/vda rw', '0::/', undefined],
])('programs are limited where %s allows it', (_, mounts, groups, place) => {
  expect(placeOf(mounts, groups)).toEqual(place);
});

/** Limits in a folder that has the files of version 2, as far as a folder can. */
function limitsIn(name: string): CpuLimits {
  const mounts = `41 31 0:38 / ${folder} rw - cgroup2 cgroup2 rw`;
  return new CpuLimits(name, (file) => (file === 'cgroup' ? '0::/own' : mounts));
}

it('version 2 gets the controller, the limit and the process', () => {
  const limits = limitsIn('root');
  expect(limits.begin()).toBe(false);
  const { name: group } = limits;
  writeFileSync(join(folder, group, 'cpu.max'), 'max 100000');
  expect(limits.begin()).toBe(true);
  // No process has this id: nothing is ended by it.
  void limits.limit(2 ** 30, 0.25);
  const text = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');
  expect(text('cgroup.subtree_control')).toBe('+cpu');
  expect(text(group, 'cgroup.subtree_control')).toBe('+cpu');
  expect(text(group, String(2 ** 30), 'cpu.max')).toBe('25000 100000');
  expect(text(group, String(2 ** 30), 'cgroup.procs')).toBe(String(2 ** 30));
});

it('a program runs without a limit where no group can be made, or where none is wanted', async () => {
  mkdirSync(join(folder, 'closed'));
  const nowhere = new CpuLimits(folder, () => '');
  expect(nowhere.begin()).toBe(false);
  await nowhere.limit(process.pid, 0.1)();
  nowhere.end();
});

const probe = new CpuLimits('probe');
const place = probe.begin()
  ? placeOf(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'))
  : undefined;
probe.end();
const reason = place ? '' : ' (skipped: this process may not make control groups)';

/** It uses all the processor time that it gets, in a process of another process group, too. */
const BUSY = `setsid sh -c 'echo $$; while :; do :; done' & while :; do :; done`;

(place ? it : it.skip)(`a program with all that it starts gets the processor time of its sizes${reason}`, async () => {
  const limits = new CpuLimits(folder);
  expect(limits.begin()).toBe(true);
  const root = join(place!.folder, limits.name);
  let said = '';
  const limit = (pid: number) => limits.limit(pid, 0.05);
  const env = { PATH: '/usr/bin:/bin' };
  const program = new AppProcess({ words: ['/bin/sh', '-c', BUSY], env, port: 0, limit }, (_, text) => (said += text));
  try {
    const [group] = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const throttled = () =>
      Number(/nr_throttled (\d+)/.exec(readFileSync(join(root, group!.name, 'cpu.stat'), 'utf8'))?.[1]);
    await until(throttled, (times) => times > 2);
    await until(() => said.includes('\n'));
    expect(readFileSync(join(root, group!.name, 'cgroup.procs'), 'utf8').split('\n')).toContain(said.trim());
  } finally {
    await program.stop();
  }
  expect(isRunning(Number(said))).toBe(false);
  expect(readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
  limits.end();
  expect(existsSync(root)).toBe(false);
});
