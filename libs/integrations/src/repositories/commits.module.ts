import { CommitComparisons, CommitResolver, RepositoryNames } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { CommitComparisonsService } from './commit-comparisons.service';
import { CommitService } from './commit.service';
import { RepositoryAccess } from './repository-access.service';
import { RepositoryIds } from './repository-ids.store';
import { RepositoryNamesService } from './repository-names.service';
import { CredentialsStore } from '../integration/credentials.store';
import { Hosts } from '../hosts/hosts.service';
import { IntegrationCommands } from '../integration/integration.commands';
import { IntegrationsOptions } from '../integration/integrations.options';

/** The commits behind names, and what the names are: {@link CommitResolver} and {@link RepositoryNames} for the whole application. Needs the providers of EventingModule. */
@Module({})
export class CommitsModule {
  static register(options: IntegrationsOptions): DynamicModule {
    return {
      module: CommitsModule,
      global: true,
      providers: [
        { provide: IntegrationsOptions, useValue: options },
        CredentialsStore,
        Hosts,
        IntegrationCommands,
        RepositoryAccess,
        RepositoryIds,
        { provide: CommitResolver, useClass: CommitService },
        { provide: CommitComparisons, useClass: CommitComparisonsService },
        { provide: RepositoryNames, useClass: RepositoryNamesService },
      ],
      exports: [
        IntegrationsOptions,
        CredentialsStore,
        Hosts,
        IntegrationCommands,
        RepositoryAccess,
        RepositoryIds,
        CommitResolver,
        CommitComparisons,
        RepositoryNames,
      ],
    };
  }
}
