import type { QueryRunner } from 'typeorm';

/** The last event that each follower has handled, which must be in the log for the checkpoint to mean anything. */
export class CheckpointEvents1764300001100 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table checkpoints
        add column event_id uuid,
        add column event_position bigint,
        add column event_stream text`);
  }
}
