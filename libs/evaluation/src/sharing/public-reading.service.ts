import { Workspaces } from '@fairlead/eventing';
import type { CommandContext } from '@fairlead/api';
import { clientNetwork, RateLimit } from '@fairlead/edge';
import { HttpProblem, NotFound, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { ShareLink } from './share';
import { type OpenLink, type Shared, type SharedRun, ShareQueries } from './share.queries';

/** Requests in each process for what one workspace shares, and those of one client network with wrong tokens. */
const RATE = { requests: 600, seconds: 60 };
const TOO_MANY = 'Too many requests for what this workspace shares, try again later.';
const WRONG_TOKENS = 'Too many wrong share tokens from this address, try again later.';
/** Tokens whose workspace is remembered, the newest. */
const MOST_KNOWN = 10_000;

@Injectable()
export class PublicReading {
  private readonly perWorkspace = new RateLimit('shared', RATE);
  private readonly wrongTokens = new RateLimit('wrong-tokens', RATE);
  private readonly owners = new Recent<string>(MOST_KNOWN);

  constructor(
    private readonly shares: ShareQueries,
    private readonly workspaces: Workspaces,
  ) {}

  /** The run that a token is for. @throws NotFound, WorkspaceStopped, or HttpProblem 429 */
  async run(context: CommandContext, token: string): Promise<SharedRun> {
    return this.admitted(context, token, (known) => this.shares.runOf(known));
  }

  /** The dataset that a token is for. @throws as `run` */
  async dataset(context: CommandContext, token: string): Promise<Shared> {
    return this.admitted(context, token, (known) => this.shares.datasetOf(known));
  }

  /** The thing that a link shows, of this kind where one is named. @throws as `run` */
  async link(context: CommandContext, token: string, kind?: ShareLink['kind']): Promise<OpenLink> {
    return this.admitted(context, token, async (known) => {
      const link = await this.shares.linkOf(known);
      return kind === undefined || link?.kind === kind ? link : undefined;
    });
  }

  /**
   * Requests with a token that was valid before are counted before it is looked up. A token that has expired or was
   * revoked is like one that never existed: it counts for the address of its client, not for the workspace.
   */
  private async admitted<T extends Pick<Shared, 'tenant'>>(
    { metadata: { address = '' } }: CommandContext,
    token: string,
    lookUp: (token: string) => Promise<T | undefined>,
  ): Promise<T> {
    const [known, network] = [this.owners.get(token), clientNetwork(address)];
    if (known !== undefined) this.count(known);
    else refuse(this.wrongTokens, this.wrongTokens.look(network, performance.now()), WRONG_TOKENS);
    const shared = await lookUp(token);
    if (!shared) {
      this.owners.delete(token);
      this.wrongTokens.take(network, performance.now());
      throw new NotFound(`Share token ${token} not found.`);
    }
    await this.workspaces.requireWorking(shared.tenant);
    if (known === undefined) this.count(shared.tenant);
    this.owners.set(token, shared.tenant);
    return shared;
  }

  private count(tenant: string): void {
    refuse(this.perWorkspace, this.perWorkspace.take(tenant, performance.now()), TOO_MANY);
  }
}

function refuse(limit: RateLimit, spent: number, detail: string): void {
  if (!limit.exceeds(spent)) return;
  throw new HttpProblem(429, detail, { headers: { 'retry-after': String(limit.retryAfter(spent)) } });
}
