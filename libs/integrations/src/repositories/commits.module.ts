import { CommitResolver } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { HostCommitResolver } from './commit.service';
import { CredentialsStore } from '../credentials.store';
import { Hosts } from '../hosts/hosts.service';
import { IntegrationCommands } from '../integration.commands';
import { IntegrationsOptions } from '../integrations.options';

/** The commits behind names: {@link CommitResolver} for the whole application. Needs the providers of EventingModule. */
@Module({})
export class CommitsModule {
  static with(options: IntegrationsOptions): DynamicModule {
    return {
      module: CommitsModule,
      global: true,
      providers: [
        { provide: IntegrationsOptions, useValue: options },
        CredentialsStore,
        Hosts,
        IntegrationCommands,
        { provide: CommitResolver, useClass: HostCommitResolver },
      ],
      exports: [IntegrationsOptions, CredentialsStore, Hosts, IntegrationCommands, CommitResolver],
    };
  }
}
