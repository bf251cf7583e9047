import { isIP } from 'node:net';
import { FairShare } from '@fairlead/schema';
import { Agent, type Dispatcher, Pool } from 'undici';
import { type AddressBlock, addressBlock, inBlock, isPublicAddress } from './outbound-address';
import { OutboundRefused } from './outbound-errors';
import { type Resolve, type ResolvedAddress, systemResolver } from './outbound-resolver';

/** Limits of a call: all in milliseconds except `bytes`. */
export interface OutboundLimits {
  readonly connect: number;
  /** From the request to the headers of the answer. */
  readonly headers: number;
  /** Between two pieces of the body of the answer. */
  readonly body: number;
  /** Size of the body of the answer, decompressed. */
  readonly bytes: number;
  /** From the request to the end of the body of the answer. */
  readonly whole: number;
}

/** Largest number of concurrent calls, of all workspaces and of one. */
const PLACES = { total: 800, perOwner: 100, waiting: 1000, waitingTogether: Infinity };
/** Largest number of workspaces without calls whose connections are kept. */
const IDLE_WORKSPACES = 100;

interface Connections {
  readonly agent: Agent;
  calls: number;
}

/** A host that the operator allows although it is not public. */
type AllowedHost =
  | { readonly hostname: string; readonly port?: string }
  | { readonly hostname?: never; readonly block: AddressBlock };

const LIMITS: OutboundLimits = {
  connect: 5_000,
  headers: 15_000,
  body: 15_000,
  bytes: 16 * 1024 * 1024,
  whole: 120_000,
};
const HOST = /^(?<host>\[[\da-f:.]+\]|[^\s/:@[\]]+)(?::(?<port>\d{1,5}))?$/i;

/**
 * Parses the setting OUTBOUND_ALLOW: hosts, `host:port`s and address blocks, separated by commas.
 * @throws Error with the rest of a sentence that begins with the name of the setting.
 */
export function parseOutboundAllow(text: string): AllowedHost[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map(allowedHost);
}

function allowedHost(entry: string): AllowedHost {
  const block = addressBlock(entry);
  if (block) return { block };
  const bare = isIP(entry) === 6 ? `[${entry}]` : entry;
  const { host, port } = HOST.exec(bare)?.groups ?? {};
  if (host === undefined || !URL.canParse(`https://${bare}`)) {
    throw new Error(`holds ${JSON.stringify(entry)}, which is no host, host:port or address block such as 10.0.0.0/8`);
  }
  return {
    hostname: hostnameOf(new URL(`https://${host}`)),
    ...(port !== undefined && { port: String(Number(port)) }),
  };
}

/** Returns the host of a URL, without the brackets of an IPv6 address and the dots at the end of a full name. */
export function hostnameOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.+$/, '');
}

/** Returns the port of a URL, or that of its scheme. */
function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'http:' ? '80' : '443');
}

/** Decides which hosts may be called for a tenant, and how they are resolved, within limits of time. */
export class OutboundPolicy {
  readonly limits: OutboundLimits;
  private readonly places = new FairShare(PLACES.total, PLACES);
  private readonly connections = new Map<string, Connections>();

  constructor(
    private readonly allowed: readonly AllowedHost[] = [],
    limits: Partial<OutboundLimits> = {},
    /** True: http is accepted for every host. */
    readonly allowHttp = false,
    private readonly resolve: Resolve = systemResolver.resolve,
  ) {
    this.limits = { ...LIMITS, ...limits };
  }

  /**
   * Waits for a place for a call of a workspace. `dispatcher` connects only to addresses that this policy allows;
   * `leave` frees the place.
   * @throws NoPlace when none becomes free; the reason of `signal` when that aborts.
   */
  async enter(workspace: string, signal?: AbortSignal | null): Promise<{ dispatcher: Dispatcher; leave: () => void }> {
    const giveBack = await this.places.wait(workspace, { patience: this.limits.headers, signal });
    const connections = this.connections.get(workspace) ?? { agent: this.agentOf(workspace), calls: 0 };
    this.connections.delete(workspace);
    this.connections.set(workspace, connections);
    connections.calls += 1;
    this.closeIdle();
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      connections.calls -= 1;
      giveBack();
    };
    return { dispatcher: connections.agent, leave };
  }

  /** Returns the connections of a workspace. Each workspace has its own, so that its lookups count for it. */
  private agentOf(workspace: string): Agent {
    const { connect, headers, body } = this.limits;
    return new Agent({
      headersTimeout: headers,
      bodyTimeout: body,
      keepAliveTimeout: 4_000,
      // A pool is for one origin, so that its connections know for which port a name is resolved.
      factory: (origin, options) => {
        const guarded = { timeout: connect, lookup: this.guard(origin, workspace) };
        return new Pool(origin, { ...(options as Pool.Options), connect: guarded });
      },
    });
  }

  private closeIdle(): void {
    if (this.connections.size <= IDLE_WORKSPACES) return;
    const idle = [...this.connections].find(([, { calls }]) => calls === 0);
    if (!idle) return;
    this.connections.delete(idle[0]);
    void idle[1].agent.close().catch(() => undefined);
  }

  /** Returns whether the operator named this host (and port, if the entry has one). */
  isNamed(url: URL): boolean {
    const hostname = hostnameOf(url);
    return this.allowed.some((entry) => {
      if (entry.hostname === undefined) return isIP(hostname) !== 0 && inBlock(hostname, entry.block);
      return entry.hostname === hostname && (entry.port === undefined || entry.port === portOf(url));
    });
  }

  /** Returns whether an IP address may be connected to without its host being named. */
  isAllowedAddress(address: string): boolean {
    return (
      isPublicAddress(address) ||
      this.allowed.some((entry) => entry.hostname === undefined && inBlock(address, entry.block))
    );
  }

  /**
   * Returns all addresses of a URL's host, looked up for a workspace.
   * @throws OutboundRefused when one of them may not be called; the error of the resolver when there is none.
   */
  async addresses(url: URL, workspace: string): Promise<readonly ResolvedAddress[]> {
    const hostname = hostnameOf(url);
    const found = await this.resolve(hostname, workspace);
    if (found.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
    const refused = !this.isNamed(url) && found.some(({ address }) => !this.isAllowedAddress(address));
    if (refused) throw new OutboundRefused('The host', 'has an address that may not be called');
    return found;
  }

  /**
   * Returns a lookup for `net.connect` that checks addresses: the socket connects to a checked address, whatever the
   * name resolves to a moment later.
   */
  private guard(origin: string | URL, workspace: string) {
    const url = new URL(origin);
    return (
      _hostname: string,
      options: { readonly all?: boolean },
      done: (error: Error | null, address: string | ResolvedAddress[], family?: number) => void,
    ): void => {
      this.addresses(url, workspace).then(
        (found) => {
          if (options.all) done(null, [...found]);
          else done(null, found[0]!.address, found[0]!.family);
        },
        (error: unknown) => {
          done(error as Error, []);
        },
      );
    };
  }
}
