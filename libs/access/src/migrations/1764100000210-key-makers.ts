import type { QueryRunner } from 'typeorm';

/**
 * Keys know their makers, and reading the tokens of people has a scope of its own, which the keys there are keep if they
 * may write. The same as `factsOf` makes of the events of those keys.
 */
export class KeyMakers1764100000210 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_keys add column made_by uuid');
    await runner.query('create index on api_keys (made_by)');
    await runner.query(`
      update api_keys set scopes = array_append(scopes, 'tokens:read')
      where scopes && array['write', 'admin'] and not 'tokens:read' = any(scopes)`);
  }
}
