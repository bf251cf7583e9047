interface Queries {
  query(sql: string): Promise<unknown>;
}

/** The id from which the ids of a request with an Idempotency-Key are derived; null in rows of earlier versions. */
export class CommandIds1764900060000 {
  readonly name = 'CommandIds1764900060000';

  async up(queries: Queries): Promise<void> {
    await queries.query('alter table idempotency_keys add column command_id uuid');
  }
}
