import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type Ask, buildIndex } from './index-builds';
import { LOCKS } from './locks';
import { opaqueStorage } from './opaque-storage';

/** A migration. None is ever undone, so it has only `up`. */
export type MigrationClass = new () => Pick<MigrationInterface, 'name' | 'up' | 'transaction'>;

/** A migration of statements that run in their order; the name of its class ends with its time. None is ever undone. */
export abstract class Migration implements Pick<MigrationInterface, 'up'> {
  abstract readonly statements: readonly (string | ((runner: QueryRunner) => Promise<void>))[];

  async up(runner: QueryRunner): Promise<void> {
    for (const one of this.statements) await (typeof one === 'string' ? runner.query(one) : one(runner));
  }
}

/**
 * A migration that builds indexes while others read and write their tables, outside a transaction. It can be repeated: an
 * index that is complete stays, and one whose build was cut off is dropped and built anew. A build waits for the end of
 * every transaction that began before it.
 */
export abstract class Indexes implements Pick<MigrationInterface, 'up' | 'transaction'> {
  readonly transaction = false;
  /** Table and columns, as `table (column, column)`, by the name of the index; a condition may follow. */
  abstract readonly indexes: Readonly<Record<string, string>>;
  /** Earlier indexes that the new ones replace. */
  readonly replaced: readonly string[] = [];
  protected readonly kind: string = 'index';

  async up(runner: QueryRunner): Promise<void> {
    const ask: Ask = (text, values) => runner.query(text, values) as ReturnType<Ask>;
    for (const [name, columns] of Object.entries(this.indexes))
      await buildIndex(ask, name, `create ${this.kind} concurrently ${name} on ${columns}`);
    for (const name of this.replaced) await ask(`drop index concurrently if exists ${name}`);
  }
}

/** As `Indexes`, of unique indexes. */
export abstract class UniqueIndexes extends Indexes {
  /** True: each is to be the primary key of its table, once no process needs the earlier one. */
  readonly arePrimary: boolean = false;
  protected override readonly kind = 'unique index';
}

/** Migrations that one process at a time runs, with all that come before them. */
interface Stage {
  /** The advisory lock of the stage. */
  readonly lock: number;
  readonly migrations: readonly MigrationClass[];
}

/**
 * Divides migrations, oldest first, where one outside a transaction follows one inside or the reverse. Builds of indexes
 * have a lock of their own: they would wait for ever for a process that waits for their lock in a statement, as those of
 * earlier versions do.
 */
export function stagesOf(migrations: readonly MigrationClass[]): Stage[] {
  const sorted = [...migrations].sort((one, other) => timeOf(one) - timeOf(other));
  const locks = sorted.map((migration) =>
    new migration().transaction === false ? LOCKS.indexBuilds : LOCKS.migration,
  );
  return locks.flatMap((lock, place) =>
    lock === locks[place + 1] ? [] : [{ lock, migrations: sorted.slice(0, place + 1) }],
  );
}

function timeOf({ name }: MigrationClass): number {
  return Number(name.slice(-13));
}

/** Returns the statement that `opaqueStorage` runs. */
export function opaque(table: string, columns: readonly string[]) {
  return (runner: QueryRunner): Promise<void> => opaqueStorage(runner, table, columns);
}
