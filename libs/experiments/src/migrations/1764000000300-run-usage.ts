import type { QueryRunner } from 'typeorm';

const COLUMNS = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'];

/** Tokens and costs that runs say they used, and their sums for sessions. */
export class RunUsage1764000000300 {
  readonly name = 'RunUsage1764000000300';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['runs', 'sessions']) {
      const added = COLUMNS.map((column) => `add column ${column} numeric`);
      await queryRunner.query(`alter table ${table} ${added.join(', ')}`);
    }
    for (const column of ['session_id', 'trace_id']) {
      await queryRunner.query(
        `create index runs_with_usage_by_${column} on runs (${column})
         where total_tokens is not null or total_cost is not null`,
      );
    }
  }
}
