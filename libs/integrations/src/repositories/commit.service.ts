import { CommitResolver } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { CommitNotFound } from '../hosts/code-host.errors';
import { Hosts } from '../hosts/hosts.service';
import { IntegrationCommands } from '../integration.commands';
import { IntegrationsOptions } from '../integrations.options';
import { repositoryPath } from '../provider';

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Asks the code host of an integration for the commit behind a name. */
@Injectable()
export class HostCommitResolver extends CommitResolver {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly hosts: Hosts,
    private readonly options: IntegrationsOptions,
  ) {
    super();
  }

  /** A full commit id is answered as it is. @throws IntegrationNotFound, InvalidIntegration, CommitNotFound, CodeHostFailed, CodeHostTooSlow */
  override async resolve(tenantId: string, integrationId: string, repoUrl: string, repoRef: string): Promise<string> {
    const { state: integration, version } = await this.integrations.find(tenantId, integrationId);
    const path = repositoryPath(integration.base_url, repoUrl);
    if (COMMIT.test(repoRef)) return repoRef;
    const host = await this.hosts.of(integration, version);
    try {
      return await host.commit(path, repoRef, AbortSignal.timeout(this.options.commitDeadline));
    } catch (error) {
      if (!(error instanceof CommitNotFound)) throw error;
      throw new CommitNotFound(`The code host knows no '${repoRef}' in the repository ${path.join('/')}.`);
    }
  }
}
