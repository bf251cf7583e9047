import type { MigrationClass } from '@fairlead/postgres';
import type { DynamicModule } from '@nestjs/common';
import type { Settings } from './settings';

/** What a service is made of, whichever process it runs in. */
export interface Service {
  /** Those of its own tables. */
  readonly migrations: readonly MigrationClass[];
  readonly module: (settings: Settings) => DynamicModule;
  /** What other services give it where they share a process; where they do not, it has these parts of them itself. */
  readonly alone?: {
    readonly migrations: readonly MigrationClass[];
    readonly modules: (settings: Settings) => readonly DynamicModule[];
  };
}
