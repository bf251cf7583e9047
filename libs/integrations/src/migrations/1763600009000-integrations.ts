import type { QueryRunner } from 'typeorm';

/** The read model of integrations: their states, which hold no secret that is not sealed. */
export class IntegrationTables1763600009000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table integrations (
        id uuid primary key,
        tenant_id uuid not null,
        version int not null,
        created_at timestamptz not null,
        state text not null
      )`);
    await queryRunner.query('create index integrations_page on integrations (tenant_id, created_at desc, id)');
  }
}
