import { CommitComparisons, type CommitsBetween } from '@fairlead/contracts';
import { withTimeLimit } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { subjectOf, textOf } from '../hosts/host-text';
import { IntegrationCommands } from '../integration/integration.commands';
import { IntegrationsOptions } from '../integration/integrations.options';
import { repositoryPath, webUrl } from '../integration/provider';
import { told } from './commit.service';
import { RepositoryAccess } from './repository-access.service';

/** Commits that are told of a comparison. */
const MOST_COMMITS = 250;

/** Asks the code host of an integration for the commits between two. */
@Injectable()
export class CommitComparisonsService extends CommitComparisons {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly access: RepositoryAccess,
    private readonly options: IntegrationsOptions,
  ) {
    super();
  }

  override async between(
    tenantId: string,
    integrationId: string,
    repoUrl: string,
    from: string,
    to: string,
  ): Promise<CommitsBetween> {
    const at = await this.integrations.find(tenantId, integrationId);
    const { provider, base_url } = at.state;
    const path = repositoryPath(base_url, repoUrl);
    try {
      return await withTimeLimit(this.options.commitDeadline, [], (late) =>
        this.access.call(at, repoUrl, late, async (host, now) => {
          const { commits, more } = await host.get(host.dialect.between(now, from, to), late);
          const known = commits.slice(0, MOST_COMMITS).map(({ commit: sha, author, message }) => {
            return { sha, author: textOf(author), subject: subjectOf(message) };
          });
          const url = `${webUrl(provider, base_url)}/${host.dialect.comparison(now, from, to)}`;
          return { commits: known, more: more || commits.length > MOST_COMMITS, url };
        }),
      );
    } catch (error) {
      throw told(error, to, path);
    }
  }
}
