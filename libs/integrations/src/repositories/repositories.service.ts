import { Recent, weightOf, withTimeLimit } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { CodeHostFailed, CodeHostTooSlow } from '../hosts/code-host.errors';
import { Hosts } from '../hosts/hosts.service';
import type { Integration } from '../integration/integration';
import { IntegrationsOptions } from '../integration/integrations.options';
import type { Repository } from '../integration/record';

interface Listed {
  readonly version: number;
  readonly at: number;
  readonly repositories: readonly Repository[];
}

/**
 * A list of repositories. `age`: milliseconds since the request to the host; `stale`: why the host was not asked again.
 */
interface Listing {
  readonly repositories: readonly Repository[];
  readonly age: number;
  readonly stale?: string;
}

const LISTS_KEPT = 200;
const LISTS_WEIGHT = { bytes: 64 * 1024 * 1024, of: ({ repositories }: Listed) => weightOf(repositories) };

/** Lists the repositories of integrations, and keeps the lists for a short while. */
@Injectable()
export class Repositories {
  private readonly lists = new Recent<Listed>(LISTS_KEPT, LISTS_WEIGHT);
  private readonly running = new Map<string, Promise<Listed>>();

  constructor(
    private readonly hosts: Hosts,
    private readonly options: IntegrationsOptions,
  ) {}

  /**
   * Returns all repositories of an integration at a version of its stream. When the host is down or too slow, it
   * returns an earlier list with the same credentials, marked as stale.
   * @throws CodeHostFailed, CodeHostTooSlow
   */
  async list(integration: Integration, version: number): Promise<Listing> {
    const known = this.lists.get(integration.id);
    const usable = known?.version === version ? known : undefined;
    const age = usable ? Date.now() - usable.at : 0;
    if (usable && age < this.options.fresh) return { repositories: usable.repositories, age };
    try {
      return { repositories: (await this.fetch(integration, version)).repositories, age: 0 };
    } catch (error) {
      const passing = error instanceof CodeHostTooSlow || (error instanceof CodeHostFailed && error.passing);
      if (!usable || !passing || age > this.options.stale) throw error;
      return { repositories: usable.repositories, age, stale: error.message };
    }
  }

  /** Fetches a list, which concurrent requests share. */
  private fetch(integration: Integration, version: number): Promise<Listed> {
    const key = `${integration.id} ${version}`;
    const running = this.running.get(key) ?? this.ask(integration, version).finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }

  private async ask(integration: Integration, version: number): Promise<Listed> {
    const host = await this.hosts.of(integration, version);
    const repositories = await withTimeLimit(this.options.listDeadline, [], (late) => host.repositories(late));
    const listed = { version, at: Date.now(), repositories };
    this.lists.set(integration.id, listed);
    return listed;
  }
}
