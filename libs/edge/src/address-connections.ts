import { BlockList, isIPv6, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { clientNetwork } from './http/client-address';
import type { EdgeSettings } from './edge-settings';
import { remoteEnd, usersConnectedTo } from './local-users';

/** Address blocks by the names that TRUST_PROXY accepts. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};
/** Part of all connections that may be without a key, those of loopback among them, and those of one workspace. */
const WITHOUT_KEY = 0.75;
const LOOPBACK_WITHOUT_KEY = 0.5;
const OF_WORKSPACE = 0.5;
/** Part of all connections at which others make room for a new one: the next ones come before these are closed. */
const FULL = 0.95;
/** Pause between two looks at who has the connections of loopback, and between two lines about it (ms). */
const LOOK_MS = 200;
const LOG_MS = 5_000;
/** The users of deployments have ids from here on; where proxies on this machine are trusted, only these have a share. */
const FIRST_UID_OF_PROGRAMS = 1_700_000_000;

type Limited = Pick<EdgeSettings, 'connections' | 'connectionsPerAddress' | 'trustProxy'>;
/** Why a connection was closed. */
type Why = 'address' | 'user' | 'withoutKey' | 'workspace';

/**
 * Shares the connections of a server: a client network and a user of this machine have a share each, a workspace has
 * one, and a quarter of all is kept for connections that have shown a key. Of those without one the oldest gives way, so
 * that a new client has time to show its key however many unfinished requests there are. Proxies in front connect for
 * many clients: they have no share of their own, nor has anybody when only their number is known.
 */
export class ConnectionShares {
  /** Connections that have shown no key, the oldest first, and those of loopback among them. */
  private readonly unproven = new Set<Socket>();
  private readonly unprovenLocal = new Set<Socket>();
  /** Connections by the workspace of the key that they showed last, the one that was used longest ago first. */
  private readonly proven = new Map<string, Set<Socket>>();
  private readonly workspaces = new WeakMap<Socket, string>();
  private readonly local = new Set<Socket>();
  private readonly counts = new Map<string, number>();
  private readonly proxies: BlockList;
  private readonly open = new Set<Socket>();
  private isLooking = false;
  private closed: Partial<Record<Why, number>> = {};
  /** The users of this machine that had more than their share since the last line. */
  private readonly users = new Set<number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    server: Server,
    private readonly limits: Limited,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    const { trustProxy } = limits;
    this.proxies = blockList(typeof trustProxy === 'number' ? [] : (trustProxy ?? []));
    server.on('connection', (socket: Socket) => this.take(socket));
    server.once('close', () => clearTimeout(this.timer));
  }

  /** Called when a connection has shown a valid key of a workspace. */
  show(socket: Socket, workspace: string): void {
    // One that has a workspace is none of a proxy.
    if (socket.destroyed || (!this.workspaces.has(socket) && this.isProxy(socket.remoteAddress))) return;
    this.unproven.delete(socket);
    this.unprovenLocal.delete(socket);
    this.forget(socket);
    const own = this.proven.get(workspace) ?? new Set();
    this.proven.set(workspace, own.add(socket));
    this.workspaces.set(socket, workspace);
    if (own.size > this.limits.connections * OF_WORKSPACE) this.close(first(own), 'workspace');
  }

  private take(socket: Socket): void {
    const { remoteAddress: address } = socket;
    // It is gone already.
    if (address === undefined) return;
    this.open.add(socket);
    socket.once('close', () => this.leave(socket));
    const isLocal = LOOPBACK.check(address, familyOf(address));
    if (!isLocal && this.isTooMany(socket, address)) return this.close(socket, 'address');
    this.unproven.add(socket);
    if (isLocal) {
      this.local.add(socket);
      this.unprovenLocal.add(socket);
      if (this.local.size > this.limits.connectionsPerAddress) void this.lookAtUsers(socket.localPort ?? 0);
    }
    this.makeRoom();
  }

  private leave(socket: Socket): void {
    this.open.delete(socket);
    this.unproven.delete(socket);
    this.unprovenLocal.delete(socket);
    this.local.delete(socket);
    this.forget(socket);
  }

  private forget(socket: Socket): void {
    const workspace = this.workspaces.get(socket);
    const own = workspace === undefined ? undefined : this.proven.get(workspace);
    own?.delete(socket);
    if (own?.size === 0) this.proven.delete(workspace!);
  }

  /** Counts a connection for its client network; returns whether it is beyond its share. */
  private isTooMany(socket: Socket, address: string): boolean {
    if (typeof this.limits.trustProxy === 'number' || this.isProxy(address)) return false;
    const network = clientNetwork(address);
    const count = (this.counts.get(network) ?? 0) + 1;
    if (count > this.limits.connectionsPerAddress) return true;
    this.counts.set(network, count);
    socket.once('close', () => {
      const left = this.counts.get(network)! - 1;
      if (left > 0) this.counts.set(network, left);
      else this.counts.delete(network);
    });
    return false;
  }

  private makeRoom(): void {
    const { connections: most } = this.limits;
    if (this.unprovenLocal.size > most * LOOPBACK_WITHOUT_KEY) this.close(first(this.unprovenLocal), 'withoutKey');
    if (this.unproven.size > most * WITHOUT_KEY) this.close(first(this.unproven), 'withoutKey');
    if (this.open.size <= most * FULL) return;
    if (this.unproven.size > 1) return this.close(first(this.unproven), 'withoutKey');
    const largest = [...this.proven.values()].sort((a, b) => b.size - a.size)[0];
    if (largest && largest.size > most / (this.proven.size + 1)) this.close(first(largest), 'workspace');
  }

  /** Closes connections of users of this machine beyond their share: those without a key first, the oldest first. */
  private async lookAtUsers(port: number): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    const users = await usersConnectedTo(port);
    const byUser = new Map<number | undefined, Socket[]>();
    for (const socket of this.local) {
      const user = users.get(remoteEnd(socket));
      const own = byUser.get(user);
      if (own) own.push(socket);
      else byUser.set(user, [socket]);
    }
    for (const [user, own] of byUser) {
      const more = own.length - this.limits.connectionsPerAddress;
      if (user === undefined || more <= 0 || this.isOfProxies(user)) continue;
      this.users.add(user);
      const inOrder = [...own.filter((one) => this.unproven.has(one)), ...own.filter((one) => !this.unproven.has(one))];
      for (const socket of inOrder.slice(0, more)) this.close(socket, 'user');
    }
    setTimeout(() => (this.isLooking = false), LOOK_MS).unref();
  }

  private isOfProxies(user: number): boolean {
    const trusts = typeof this.limits.trustProxy === 'number' || this.proxies.check('127.0.0.1');
    return trusts && user < FIRST_UID_OF_PROGRAMS;
  }

  private isProxy(address: string | undefined): boolean {
    return address !== undefined && this.proxies.check(address, familyOf(address));
  }

  private close(socket: Socket, why: Why): void {
    // It counts no more from now on, though its end is told later.
    this.leave(socket);
    socket.destroy();
    this.closed[why] = (this.closed[why] ?? 0) + 1;
    this.timer ??= setTimeout(() => {
      this.logger.warn(
        { closed: this.closed, open: this.open.size, ...(this.users.size > 0 && { users: [...this.users] }) },
        'Connections were closed, because there were too many',
      );
      this.closed = {};
      this.users.clear();
      this.timer = undefined;
    }, LOG_MS).unref();
  }
}

/** Returns the first of a set that is not empty. */
function first(sockets: ReadonlySet<Socket>): Socket {
  return sockets.values().next().value!;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

const LOOPBACK = blockList(['loopback']);

function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries.flatMap((name) => NAMED[name] ?? [name])) {
    const [address = '', bits] = entry.split('/');
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
