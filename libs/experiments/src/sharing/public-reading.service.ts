import { Workspaces } from '@fairlead/eventing';
import { RateLimit } from '@fairlead/edge';
import { HttpProblem, NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { type Shared, type SharedRun, Shares } from './shares.service';

/** Requests for what one workspace shares, in each process; those of one address are counted before they come here. */
const RATE = { requests: 600, seconds: 60 };

/** Lets whoever has a token read what it is for, as long as the workspace works and not too many do. */
@Injectable()
export class PublicReading {
  private readonly perWorkspace = new RateLimit('shared', RATE);

  constructor(
    private readonly shares: Shares,
    private readonly workspaces: Workspaces,
  ) {}

  /** The run that a token is for. @throws NotFound, WorkspaceStopped, or HttpProblem 429 */
  async run(token: string): Promise<SharedRun> {
    return this.admitted(token, await this.shares.runOf(token));
  }

  /** The dataset that a token is for. @throws as `run` */
  async dataset(token: string): Promise<Shared> {
    return this.admitted(token, await this.shares.datasetOf(token));
  }

  private async admitted<T extends Shared>(token: string, shared: T | undefined): Promise<T> {
    if (!shared) throw new NotFound(`Share token ${token} not found.`);
    await this.workspaces.requireWorking(shared.tenant);
    const spent = this.perWorkspace.take(shared.tenant, performance.now());
    if (!this.perWorkspace.exceeds(spent)) return shared;
    throw new HttpProblem(429, 'Too many requests for what this workspace shares, try again later.', {
      headers: { 'retry-after': String(this.perWorkspace.retryAfter(spent)) },
    });
  }
}
