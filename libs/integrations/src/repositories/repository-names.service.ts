import { RepositoryNames } from '@fairlead/contracts';
import { withTimeLimit } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { found } from '../hosts/code-host.errors';
import { IntegrationCommands } from '../integration/integration.commands';
import { RepositoryAccess } from './repository-access.service';

/** Time for the code host to answer while somebody waits for it (ms). */
const PATIENCE_MS = 5000;

/** Asks the code host of an integration whether a name is that of a tag. */
@Injectable()
export class RepositoryNamesService extends RepositoryNames {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly access: RepositoryAccess,
  ) {
    super();
  }

  override async isTag(tenantId: string, integrationId: string, repoUrl: string, name: string): Promise<boolean> {
    try {
      const at = await this.integrations.find(tenantId, integrationId);
      return await withTimeLimit(PATIENCE_MS, [], (late) =>
        this.access.call(at, repoUrl, late, async (host, path) => {
          if (await found(host.get(host.dialect.head(path, name), late))) return false;
          return found(host.get(host.dialect.tag(path, name), late));
        }),
      );
    } catch {
      // What is wrong is said when the revision is rolled out.
      return false;
    }
  }
}
