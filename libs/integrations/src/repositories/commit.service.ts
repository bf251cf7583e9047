import { CodeHostUnreachable, CommitResolver } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { withTimeLimit } from '@fairlead/schema';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound } from '../hosts/code-host.errors';
import { IntegrationCommands } from '../integration/integration.commands';
import { IntegrationsOptions } from '../integration/integrations.options';
import { repositoryPath } from '../integration/provider';
import { RepositoryAccess } from './repository-access.service';

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Asks the code host of an integration for the commit behind a name, and for its files. */
@Injectable()
export class CommitService extends CommitResolver {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly access: RepositoryAccess,
    private readonly options: IntegrationsOptions,
  ) {
    super();
  }

  /** A full commit id is answered as it is. @throws IntegrationNotFound, InvalidIntegration, CommitNotFound, CodeHostFailed, CodeHostUnreachable */
  override async resolve(tenantId: string, integrationId: string, repoUrl: string, repoRef: string): Promise<string> {
    const { at, path } = await this.repository(tenantId, integrationId, repoUrl);
    if (COMMIT.test(repoRef)) return repoRef;
    try {
      return await withTimeLimit(this.options.commitDeadline, [], async (late) => {
        const commit = await this.access.call(at, repoUrl, late, (host, now) =>
          host.get(host.dialect.commit(now, repoRef), late),
        );
        // From now on the repository is found under another name as well.
        await this.access.learn(at, repoUrl, late);
        return commit;
      });
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
    const { at, path } = await this.repository(tenantId, integrationId, repoUrl);
    try {
      const source = await this.access.call(at, repoUrl, signal, (host, now) => host.archive(now, commit, signal));
      return pieces(source, commit, path);
    } catch (error) {
      throw told(error, commit, path);
    }
  }

  private async repository(tenantId: string, integrationId: string, repoUrl: string) {
    const at = await this.integrations.find(tenantId, integrationId);
    return { at, path: repositoryPath(at.state.base_url, repoUrl) };
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
export function told(error: unknown, ref: string, path: readonly string[]): unknown {
  if (error instanceof CommitNotFound) {
    return new CommitNotFound(`The code host knows no '${ref}' in the repository ${path.join('/')}.`);
  }
  const mayPass = error instanceof CodeHostTooSlow || (error instanceof CodeHostFailed && error.passing);
  return mayPass ? new CodeHostUnreachable(error.message, { cause: error }) : error;
}
