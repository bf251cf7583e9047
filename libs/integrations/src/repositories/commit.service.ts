import { CodeHostUnreachable, CommitResolver } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { withTimeLimit } from '@fairlead/schema';
import type { CodeHost } from '../hosts/code-host';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound } from '../hosts/code-host.errors';
import { Hosts } from '../hosts/hosts.service';
import { IntegrationCommands } from '../integration.commands';
import { IntegrationsOptions } from '../integrations.options';
import { repositoryPath } from '../provider';

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Asks the code host of an integration for the commit behind a name, and for its files. */
@Injectable()
export class HostCommitResolver extends CommitResolver {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly hosts: Hosts,
    private readonly options: IntegrationsOptions,
  ) {
    super();
  }

  /** A full commit id is answered as it is. @throws IntegrationNotFound, InvalidIntegration, CommitNotFound, CodeHostFailed, CodeHostUnreachable */
  override async resolve(tenantId: string, integrationId: string, repoUrl: string, repoRef: string): Promise<string> {
    const { host, path } = await this.repository(tenantId, integrationId, repoUrl);
    if (COMMIT.test(repoRef)) return repoRef;
    try {
      const asked = await host();
      return await withTimeLimit(this.options.commitDeadline, [], (late) => asked.commit(path, repoRef, late));
    } catch (error) {
      throw told(error, repoRef, path);
    }
  }

  /** @throws as `resolve` */
  override async archive(
    tenantId: string,
    integrationId: string,
    repoUrl: string,
    commit: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    const { host, path } = await this.repository(tenantId, integrationId, repoUrl);
    try {
      return pieces(await (await host()).archive(path, commit, signal), commit, path);
    } catch (error) {
      throw told(error, commit, path);
    }
  }

  private async repository(tenantId: string, integrationId: string, repoUrl: string) {
    const { state: integration, version } = await this.integrations.find(tenantId, integrationId);
    const host = (): Promise<CodeHost> => this.hosts.of(integration, version);
    return { host, path: repositoryPath(integration.base_url, repoUrl) };
  }
}

async function* pieces(
  source: AsyncIterable<Buffer>,
  ref: string,
  path: readonly string[],
): AsyncGenerator<Buffer, void> {
  try {
    yield* source;
  } catch (error) {
    throw told(error, ref, path);
  }
}

/** The error with a sentence for whoever deploys. */
function told(error: unknown, ref: string, path: readonly string[]): unknown {
  if (error instanceof CommitNotFound) {
    return new CommitNotFound(`The code host knows no '${ref}' in the repository ${path.join('/')}.`);
  }
  const mayPass = error instanceof CodeHostTooSlow || (error instanceof CodeHostFailed && error.passing);
  return mayPass ? new CodeHostUnreachable(error.message, { cause: error }) : error;
}
