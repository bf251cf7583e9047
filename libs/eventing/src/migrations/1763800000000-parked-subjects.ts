import type { QueryRunner } from 'typeorm';

/** Streams whose events wait for a consumer that fails at one of them. */
export class ParkedSubjects1763800000000 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table parked_subjects (
        id uuid primary key default gen_random_uuid(),
        consumer text not null,
        subject text not null,
        tenant_id text,
        event_type text not null,
        version int not null,
        last_version int not null,
        attempts int not null,
        reason text not null,
        created_at timestamptz not null default now(),
        failed_at timestamptz not null default now(),
        -- Tried again by itself from then on; null when it waits for somebody to ask for it.
        retry_at timestamptz,
        unique (consumer, subject)
      );
      create index on parked_subjects (retry_at)`);
  }
}
