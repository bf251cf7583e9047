import { Injectable } from '@nestjs/common';
import type { CodeHost } from '../hosts/code-host';
import { CodeHostFailed, CommitNotFound } from '../hosts/code-host.errors';
import { Hosts } from '../hosts/hosts.service';
import type { Integration } from '../integration/integration';
import { repositoryPath } from '../integration/provider';
import { RepositoryIds } from './repository-ids.store';

/** An integration at a version of its stream. */
export interface At {
  readonly state: Integration;
  readonly version: number;
}

/** Calls code hosts about the repositories of deployments. One that was renamed is found by the host's own id. */
@Injectable()
export class RepositoryAccess {
  constructor(
    private readonly hosts: Hosts,
    private readonly ids: RepositoryIds,
  ) {}

  /**
   * Makes a call with the path of a repository: the one at which the host has the repository with the id that is known,
   * or else the one in its address. @throws InvalidIntegration, and what the call throws
   */
  async call<T>(
    at: At,
    repoUrl: string,
    signal: AbortSignal,
    call: (host: CodeHost, path: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const { tenant_id, id, base_url } = at.state;
    const path = repositoryPath(base_url, repoUrl);
    const host = await this.hosts.of(at.state, at.version);
    const known = await this.ids.idOf(tenant_id, id, repoUrl);
    if (known === undefined) return call(host, path);
    const now = await host.get(host.dialect.repositoryPath(known), signal).catch((error: unknown) => {
      // The repository is gone, or these credentials cannot find it by its id.
      if (error instanceof CommitNotFound || (error instanceof CodeHostFailed && !error.passing)) return path;
      throw error;
    });
    return call(host, now);
  }

  /** Notes the host's own id of a repository unless one is known. A host that does not say it is asked another time. */
  async learn({ state: integration, version }: At, repoUrl: string, signal: AbortSignal): Promise<void> {
    const { tenant_id, id } = integration;
    if ((await this.ids.idOf(tenant_id, id, repoUrl)) !== undefined) return;
    const host = await this.hosts.of(integration, version);
    const path = repositoryPath(integration.base_url, repoUrl);
    const found = await host.get(host.dialect.repositoryId(path), signal).catch(() => undefined);
    if (found !== undefined) await this.ids.learn(tenant_id, id, repoUrl, found);
  }

  /**
   * Returns whether a push of the repository with an id is one of the repository at an address. Where another repository
   * has taken the address, it is not while the host still has the former one; after that, it is.
   */
  async isSame(at: At, repoUrl: string, hostId: string | null, signal: AbortSignal): Promise<boolean> {
    const { tenant_id, id } = at.state;
    const known = await this.ids.idOf(tenant_id, id, repoUrl);
    if (known === undefined || hostId === null || known === hostId) return true;
    try {
      const host = await this.hosts.of(at.state, at.version);
      const path = await host.get(host.dialect.repositoryPath(known), signal);
      const own = repositoryPath(at.state.base_url, repoUrl);
      return path.join('/').toLowerCase() === own.join('/').toLowerCase();
    } catch (error) {
      if (!(error instanceof CommitNotFound)) throw error;
      await this.ids.learn(tenant_id, id, repoUrl, hostId);
      return true;
    }
  }
}
