import { Workspaces } from '@fairlead/eventing';
import { RateLimit } from '@fairlead/edge';
import { HttpProblem, NotFound, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { ShareLink } from './share-link';
import { type OpenLink, ShareLinks } from './share-links.service';
import { type Shared, type SharedRun, Shares } from './shares.service';

/** Requests for what one workspace shares, in each process; those of one address are counted before they come here. */
const RATE = { requests: 600, seconds: 60 };
/** Tokens whose workspace is remembered, the newest. */
const MOST_KNOWN = 10_000;

/** Lets whoever has a token read what it is for, as long as the workspace works and not too many do. */
@Injectable()
export class PublicReading {
  private readonly perWorkspace = new RateLimit('shared', RATE);
  private readonly owners = new Recent<string>(MOST_KNOWN);

  constructor(
    private readonly shares: Shares,
    private readonly links: ShareLinks,
    private readonly workspaces: Workspaces,
  ) {}

  /** The run that a token is for. @throws NotFound, WorkspaceStopped, or HttpProblem 429 */
  async run(token: string): Promise<SharedRun> {
    return this.admitted(token, (known) => this.shares.runOf(known));
  }

  /** The dataset that a token is for. @throws as `run` */
  async dataset(token: string): Promise<Shared> {
    return this.admitted(token, (known) => this.shares.datasetOf(known));
  }

  /** What a link shows, of this kind where one is named. @throws as `run` */
  async link(token: string, kind?: ShareLink['kind']): Promise<OpenLink> {
    return this.admitted(token, async (known) => {
      const link = await this.links.open(known);
      return kind === undefined || link?.kind === kind ? link : undefined;
    });
  }

  /** Requests with a token that was good before are counted before it is looked up. */
  private async admitted<T extends Pick<Shared, 'tenant'>>(
    token: string,
    lookUp: (token: string) => Promise<T | undefined>,
  ): Promise<T> {
    const known = this.owners.get(token);
    if (known !== undefined) this.count(known);
    const shared = await lookUp(token);
    if (!shared) throw new NotFound(`Share token ${token} not found.`);
    await this.workspaces.requireWorking(shared.tenant);
    if (known === undefined) this.count(shared.tenant);
    this.owners.set(token, shared.tenant);
    return shared;
  }

  /** @throws HttpProblem 429 */
  private count(tenant: string): void {
    const spent = this.perWorkspace.take(tenant, performance.now());
    if (!this.perWorkspace.exceeds(spent)) return;
    throw new HttpProblem(429, 'Too many requests for what this workspace shares, try again later.', {
      headers: { 'retry-after': String(this.perWorkspace.retryAfter(spent)) },
    });
  }
}
