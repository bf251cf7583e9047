import { SourceArchives } from '@fairlead/contracts';
import { type DynamicModule, Module } from '@nestjs/common';
import { SourceStore } from './source.store';

/** The uploaded sources: {@link SourceArchives} for the whole application. Needs the providers of EventingModule. */
@Module({})
export class SourcesModule {
  static with(): DynamicModule {
    return {
      module: SourcesModule,
      global: true,
      providers: [SourceStore, { provide: SourceArchives, useExisting: SourceStore }],
      exports: [SourceStore, SourceArchives],
    };
  }
}
