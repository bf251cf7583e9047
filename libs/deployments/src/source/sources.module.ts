import { DeploymentNames, SourceArchives } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { SourceStore } from './source.store';
import { SpelledNames } from './spelled-names.service';

/** The uploaded sources and the names of deployments: {@link SourceArchives} and {@link DeploymentNames} for the whole application. Needs the providers of EventingModule. */
@Module({})
export class SourcesModule {
  static with(): DynamicModule {
    return {
      module: SourcesModule,
      global: true,
      providers: [
        SourceStore,
        { provide: SourceArchives, useExisting: SourceStore },
        { provide: DeploymentNames, useClass: SpelledNames },
      ],
      exports: [SourceStore, SourceArchives, DeploymentNames],
    };
  }
}
