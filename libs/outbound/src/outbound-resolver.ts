import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { FairShare, Recent } from '@fairlead/schema';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns all addresses of a host name, looked up for a workspace. */
export type Resolve = (hostname: string, workspace: string) => Promise<readonly ResolvedAddress[]>;

export interface ResolverOptions {
  /** Name servers as `address:port`; those of /etc/resolv.conf when absent. */
  readonly servers?: readonly string[];
  /** Milliseconds after which a lookup is cancelled. */
  readonly deadline: number;
  /** Milliseconds for which a name that was not found is not looked up again. */
  readonly remembered: number;
  /** Largest number of concurrent lookups, of all workspaces and of one. */
  readonly most: number;
  readonly mostPerWorkspace: number;
  readonly hostsFile: string;
}

const DEFAULTS: ResolverOptions = {
  deadline: 4_000,
  remembered: 5_000,
  most: 256,
  mostPerWorkspace: 32,
  hostsFile: '/etc/hosts',
};
const MOST_REMEMBERED = 10_000;
/** Largest number of names that wait for a lookup in a workspace. */
const WAITING = { waiting: 1000, waitingTogether: Infinity };
const HOSTS_KEPT_MS = 5_000;
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves host names: from the hosts file; `localhost` by itself; a name without a dot by the resolver of the system
 * (`getaddrinfo`); every other name by the name servers, whose lookups are cancelled when they take too long.
 * Concurrent requests for a name share one lookup. The number of lookups is limited, and waiting workspaces take turns.
 */
export class OutboundResolver {
  private readonly options: ResolverOptions;
  private readonly places: FairShare;
  private readonly asked = new Map<string, Promise<readonly ResolvedAddress[]>>();
  private readonly running = new Map<string, Promise<readonly ResolvedAddress[]>>();
  private readonly failed = new Recent<{ readonly error: unknown; readonly until: number }>(MOST_REMEMBERED);
  private hosts: { readonly names: Promise<Map<string, ResolvedAddress[]>>; readonly until: number } | undefined;

  constructor(options: Partial<ResolverOptions> = {}) {
    this.options = { ...DEFAULTS, ...options };
    this.places = new FairShare(this.options.most, { ...WAITING, perOwner: this.options.mostPerWorkspace });
  }

  /** Number of running lookups. */
  get pending(): number {
    return this.running.size;
  }

  /** @throws Error with a `code` such as ENOTFOUND or ETIMEOUT; NoPlace when the workspace has too many lookups under way. */
  readonly resolve: Resolve = async (hostname, workspace) => {
    if (isIP(hostname)) return [{ address: hostname, family: isIP(hostname) }];
    const known = (await this.hostsNow()).get(hostname);
    if (known) return known;
    if (hostname === 'localhost') return LOOPBACK;
    const failure = this.failed.get(hostname);
    if (failure && failure.until > performance.now()) throw failure.error;
    const key = `${workspace} ${hostname}`;
    const found = this.asked.get(key) ?? this.ask(hostname, workspace).finally(() => this.asked.delete(key));
    this.asked.set(key, found);
    return found;
  };

  private async ask(hostname: string, workspace: string): Promise<readonly ResolvedAddress[]> {
    return this.places.hold(workspace, { patience: this.options.deadline }, async () => {
      try {
        return await this.inTime(this.running.get(hostname) ?? this.begin(hostname));
      } catch (error) {
        this.failed.set(hostname, { error, until: performance.now() + this.options.remembered });
        throw error;
      }
    });
  }

  private begin(hostname: string): Promise<readonly ResolvedAddress[]> {
    const found = hostname.includes('.') ? this.question(hostname) : lookup(hostname, { all: true });
    const running = found.finally(() => this.running.delete(hostname));
    this.running.set(hostname, running);
    return running;
  }

  /** Asks the name servers for IPv4 and IPv6 addresses, until the deadline. */
  private async question(hostname: string): Promise<readonly ResolvedAddress[]> {
    const { servers, deadline } = this.options;
    const resolver = new Resolver({ timeout: Math.ceil(deadline / 3), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), deadline);
    try {
      const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const found = [...addresses(v4, 4), ...addresses(v6, 6)];
      if (found.length > 0) return found;
      if (isCancelled(v4) || isCancelled(v6)) throw late();
      throw (v4 as PromiseRejectedResult).reason ?? (v6 as PromiseRejectedResult).reason;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits for the resolver of the system, which cannot be cancelled, until the deadline. */
  private async inTime<T>(found: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late()), this.options.deadline * 1.25);
    });
    try {
      return await Promise.race([found, over]);
    } finally {
      clearTimeout(timer);
    }
  }

  private hostsNow(): Promise<Map<string, ResolvedAddress[]>> {
    if (!this.hosts || this.hosts.until <= performance.now()) {
      const names = readFile(this.options.hostsFile, 'utf8').then(parseHosts, () => new Map<string, never>());
      this.hosts = { names, until: performance.now() + HOSTS_KEPT_MS };
    }
    return this.hosts.names;
  }
}

function late(): Error {
  return Object.assign(new Error('The lookup took too long.'), { code: 'ETIMEOUT' });
}

function isCancelled(result: PromiseSettledResult<unknown>): boolean {
  return result.status === 'rejected' && (result.reason as { code?: unknown }).code === 'ECANCELLED';
}

function addresses(result: PromiseSettledResult<string[]>, family: number): ResolvedAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

function parseHosts(text: string): Map<string, ResolvedAddress[]> {
  const names = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const host of hosts.map((one) => one.toLowerCase())) {
      names.set(host, [...(names.get(host) ?? []), { address, family }]);
    }
  }
  return names;
}

/** The resolver of this process. Its limits hold for all services together. */
export const systemResolver = new OutboundResolver();
