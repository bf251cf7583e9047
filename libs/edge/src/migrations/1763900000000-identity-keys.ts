interface Queries {
  query(sql: string): Promise<unknown>;
}

/** Public keys of the gateways' processes; the private halves never leave the process that made them. */
export class IdentityKeys1763900000000 {
  readonly name = 'IdentityKeys1763900000000';

  async up(queries: Queries): Promise<void> {
    await queries.query(`
      create table identity_keys (
        id text primary key,
        public_key text not null,
        expires_at timestamptz not null
      )`);
  }
}
