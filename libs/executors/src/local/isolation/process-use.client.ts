import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

export interface GroupUse {
  readonly memory_bytes: number;
  /** Since the look before; null at the first one. */
  readonly cpu_cores: number | null;
}

interface ProcessUse {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly memory_bytes: number;
  /** Processor time of it, and of its children that have ended. */
  readonly cpu_seconds: number;
}

interface Followed {
  readonly told: (use: GroupUse) => void;
  seen?: { readonly at: number; readonly cpu_seconds: number };
}

/** Length of a tick of processor time, as Linux counts it on all machines. */
const TICKS_PER_SECOND = 100;
const LOOK_MS = 1000;

/** Looks once a second at what process groups use, at all of them together. Linux only: elsewhere nothing is seen. */
class UseWatch {
  private readonly groups = new Map<number, Followed>();
  private timer: NodeJS.Timeout | undefined;

  /** Calls `told` after each look; answers what ends that. */
  follow(group: number, told: Followed['told']): () => void {
    this.groups.set(group, { told });
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
    return () => {
      this.groups.delete(group);
      if (this.groups.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private look(): void {
    const at = performance.now();
    const all = processes();
    for (const [group, followed] of this.groups) {
      const own = all.filter((one) => one.group === group);
      if (own.length === 0) continue;
      const sum = (member: 'memory_bytes' | 'cpu_seconds') => own.reduce((total, one) => total + one[member], 0);
      const cpu_seconds = sum('cpu_seconds');
      const { seen } = followed;
      const cpu_cores = seen && Math.max(0, ((cpu_seconds - seen.cpu_seconds) * 1000) / (at - seen.at));
      followed.seen = { at, cpu_seconds };
      followed.told({ memory_bytes: sum('memory_bytes'), cpu_cores: cpu_cores ?? null });
    }
  }
}

export const useWatch = new UseWatch();

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Nothing of it is left.
  }
}

export function processesOf(uid: number): number[] {
  return processes().flatMap(({ pid }) =>
    statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid ? pid : [],
  );
}

export function isAlive(group: number): boolean {
  return processes().some((one) => one.group === group);
}

export function isRunning(pid: number): boolean {
  return useOf(String(pid)) !== undefined;
}

export function listeners(group: number, port: number): number[] {
  const sockets = new Set(listening().flatMap((one) => (one.port === port ? one.link : [])));
  const own = processes().filter((one) => one.group === group);
  return own.map(({ pid }) => pid).filter((pid) => linksOf(pid).some((link) => sockets.has(link)));
}

/** The ids of the users who listen at a port; undefined where the system does not show who listens. */
export function listeningUsers(port: number): number[] | undefined {
  const all = listening();
  return all.length > 0 ? all.flatMap((one) => (one.port === port ? one.uid : [])) : undefined;
}

/** Connections to a port that wait to be taken by who listens there; 0 where the system does not show it. */
export function unaccepted(port: number): number {
  return listening().reduce((sum, one) => sum + (one.port === port ? one.waiting : 0), 0);
}

/**
 * Where a process and all that it started listen; undefined where the system does not show it. What has left its group
 * and its session, and outlived who started it, is not found.
 */
export function listeningOf(pid: number): Endpoint[] | undefined {
  const all = processes();
  const own = new Set([pid]);
  // Children may have lower numbers than their parents.
  for (let known = 0; known !== own.size;) {
    known = own.size;
    for (const one of all) {
      if (one.group === pid || one.session === pid || own.has(one.parent)) own.add(one.pid);
    }
  }
  const links = new Set([...own].flatMap(linksOf));
  if (links.size === 0) return undefined;
  return listening().flatMap(({ port, address, link }) => (links.has(link) ? { port, address } : []));
}

export interface Endpoint {
  readonly port: number;
  /** `any` for all addresses of IPv4, and of IPv6 unless the socket refuses that. */
  readonly address: 'any' | 'loopback' | 'any of IPv6' | 'loopback of IPv6' | 'another';
}

interface Listening extends Endpoint {
  readonly uid: number;
  readonly link: string;
  readonly waiting: number;
}

/** Addresses as Linux writes them: words of four bytes, each in the order of the machine. */
const ADDRESSES: Readonly<Record<string, Endpoint['address']>> = {
  '00000000': 'any',
  '0100007F': 'loopback',
  '00000000000000000000000000000000': 'any of IPv6',
  '00000000000000000000000001000000': 'loopback of IPv6',
  '0000000000000000FFFF00000100007F': 'loopback',
};

function listening(): Listening[] {
  return ['tcp', 'tcp6'].flatMap((family) => {
    try {
      const lines = readFileSync(`/proc/net/${family}`, 'utf8').split('\n');
      return lines.flatMap((line) => {
        const [, local, , state, queues, , , uid, , inode] = line.trim().split(/\s+/);
        if (state !== '0A') return [];
        const [address = '', port = ''] = local!.split(':');
        return {
          port: Number.parseInt(port, 16),
          address: ADDRESSES[address] ?? ('another' as const),
          uid: Number(uid),
          link: `socket:[${inode}]`,
          waiting: Number.parseInt(queues!.slice(9), 16),
        };
      });
    } catch {
      return [];
    }
  });
}

function linksOf(pid: number): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => linkAt(`${folder}/${name}`));
  } catch {
    return [];
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return '';
  }
}

function processes(): ProcessUse[] {
  try {
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return ids.flatMap((id) => useOf(id) ?? []);
  } catch {
    return [];
  }
}

let page: number | undefined;

function pageBytes(): number {
  try {
    page ??= Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));
  } catch {
    page = 4096;
  }
  return page;
}

/** Resources that a process uses; undefined when it has ended, also when nobody has waited for it. */
function useOf(id: string): ProcessUse | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold spaces.
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (words[0] === 'Z') return undefined;
    const number = (at: number) => Number(words[at]);
    const ticks = number(11) + number(12) + number(13) + number(14);
    return {
      pid: Number(id),
      parent: number(1),
      group: number(2),
      session: number(3),
      memory_bytes: number(21) * pageBytes(),
      cpu_seconds: ticks / TICKS_PER_SECOND,
    };
  } catch {
    return undefined;
  }
}
