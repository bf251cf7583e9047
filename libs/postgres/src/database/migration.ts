import type { MigrationInterface, QueryRunner } from 'typeorm';
import { opaqueStorage } from './opaque-storage';

/** A migration of statements that run in their order; the name of its class ends with its time. None is ever undone. */
export abstract class Migration implements Pick<MigrationInterface, 'up'> {
  abstract readonly statements: readonly (string | ((runner: QueryRunner) => Promise<void>))[];

  async up(runner: QueryRunner): Promise<void> {
    for (const one of this.statements) await (typeof one === 'string' ? runner.query(one) : one(runner));
  }
}

/** Returns the statement that `opaqueStorage` runs. */
export function opaque(table: string, columns: readonly string[]) {
  return (runner: QueryRunner): Promise<void> => opaqueStorage(runner, table, columns);
}
