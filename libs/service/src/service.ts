import type { EntityClass, MigrationClass } from '@fairlead/postgres';
import type { DynamicModule } from '@nestjs/common';
import type { Settings } from './settings/settings';

/** The parts of a service, for any process that runs it. */
export interface Service {
  /** Migrations of its own tables. */
  readonly migrations: readonly MigrationClass[];
  /** Its read models. */
  readonly entities: readonly EntityClass[];
  readonly module: (settings: Settings) => DynamicModule;
  /**
   * Parts that other services provide in a shared process, and that the service brings itself in a process of its own.
   */
  readonly alone?: {
    readonly migrations: readonly MigrationClass[];
    readonly modules: (settings: Settings) => readonly DynamicModule[];
  };
}
