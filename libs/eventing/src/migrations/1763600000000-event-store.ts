import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryRunner } from 'typeorm';

const sql = (name: string) => readFileSync(join(__dirname, '../../sql', `${name}.sql`), 'utf8');

/** The log, the followers' checkpoints, the consumers' inbox, and the function that appends. */
export class EventStoreTables1763600000000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(sql('events'));
    await runner.query(sql('append_events'));
  }
}
