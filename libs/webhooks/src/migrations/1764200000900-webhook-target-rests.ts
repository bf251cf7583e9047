import type { QueryRunner } from 'typeorm';

/** Targets rest after failures, and are taken in turn by workspace. */
export class WebhookTargetRests1764200000900 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table webhook_targets
        add column tenant_id uuid,
        add column failures int not null default 0,
        add column rests_until timestamptz`);
    await queryRunner.query(
      'update webhook_targets set tenant_id = webhooks.tenant_id from webhooks where id = webhook_id',
    );
    await queryRunner.query(`
      create index webhook_targets_held on webhook_targets (tenant_id) where leased_until is not null`);
  }
}
