import { DeploymentNames, PushFollowers, SourceArchives } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { StoredPushFollowers } from './stored-push-followers.service';
import { SourceStore } from '../archives/source.store';
import { SpelledNames } from './spelled-names.service';

/**
 * Providers that other services read deployments through: the uploaded sources ({@link SourceArchives}), the names of
 * deployments ({@link DeploymentNames}) and who follows pushes ({@link PushFollowers}), for the whole application. Needs
 * the providers of EventingModule.
 */
@Module({})
export class SourcesModule {
  static register(): DynamicModule {
    return {
      module: SourcesModule,
      global: true,
      providers: [
        SourceStore,
        { provide: SourceArchives, useExisting: SourceStore },
        { provide: DeploymentNames, useClass: SpelledNames },
        { provide: PushFollowers, useClass: StoredPushFollowers },
      ],
      exports: [SourceStore, SourceArchives, DeploymentNames, PushFollowers],
    };
  }
}
