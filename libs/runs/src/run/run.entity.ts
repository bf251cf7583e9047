import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

const ROOTS = ['tenant_id', 'session_id', 'start_time', 'id'];
const USED = { where: 'total_tokens is not null or total_cost is not null' };

/** Columns of runs, replaced or not. */
abstract class AnyRun {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('uuid') readonly session_id!: string;
  @Column('uuid', { nullable: true }) readonly dataset_id!: string | null;
  @Column('uuid', { nullable: true }) readonly example_id!: string | null;
  @Column('timestamptz', { nullable: true }) readonly example_from!: Date | null;
  @Column('text') readonly name!: string;
  @Column('text') readonly run_type!: string;
  @Column('timestamptz') readonly start_time!: Date;
  @Column('timestamptz', { nullable: true }) readonly end_time!: Date | null;
  @Column('text') readonly status!: string;
  @Column('text', { nullable: true }) readonly error!: string | null;
  @Column('text', { nullable: true }) readonly inputs!: string | null;
  @Column('text', { nullable: true }) readonly outputs!: string | null;
  @Column('text', { nullable: true }) readonly extra!: string | null;
  @Column('int') readonly row_number!: number;
}

@Entity('runs')
@Index('runs_by_time', ['session_id', 'start_time', 'id'])
@Index('runs_by_example', ['example_id'])
@Index('runs_of_trace', ['tenant_id', 'trace_id', 'start_time', 'id'], { where: 'trace_id is not null' })
@Index('runs_roots', ROOTS, { where: 'parent_run_id is null' })
@Index('runs_failed_roots', ROOTS, { where: "parent_run_id is null and status = 'error'" })
// The keys of these two are expressions.
@Index('runs_by_thread', { synchronize: false })
@Index('runs_of_revision', { synchronize: false })
@Index('runs_by_parent', ['parent_run_id'], { where: 'parent_run_id is not null' })
@Index('runs_with_usage_by_session_id', ['session_id'], USED)
@Index('runs_with_usage_by_trace_id', ['trace_id'], USED)
export class RunEntity extends AnyRun {
  @Column('uuid', { nullable: true }) readonly parent_run_id!: string | null;
  @Column('uuid', { nullable: true }) readonly trace_id!: string | null;
  @Column('text', { nullable: true }) readonly dotted_order!: string | null;
  @Column('text', { nullable: true }) readonly tags!: string | null;
  @Column('text', { nullable: true }) readonly events!: string | null;
  @Column('text', { nullable: true }) readonly serialized!: string | null;
  /** Members that were sent and are not stored, because they were too large. */
  @Column('text', { array: true, nullable: true }) readonly left_out!: string[] | null;
  /** Tokens and costs of the run, or of the runs below it, as decimal texts. */
  @Column('numeric', { nullable: true }) readonly prompt_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly completion_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly total_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly prompt_cost!: string | null;
  @Column('numeric', { nullable: true }) readonly completion_cost!: string | null;
  @Column('numeric', { nullable: true }) readonly total_cost!: string | null;
}

@Entity('run_attachments')
@Index('run_attachments_by_session', ['session_id'])
export class RunAttachmentEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly run_id!: string;
  @PrimaryColumn('text') readonly name!: string;
  @Column('uuid') readonly session_id!: string;
  @Column('text') readonly type!: string;
  @Column('text') readonly sha256!: string;
  @Column('bigint') readonly bytes!: string;
}

/** A run of an uploaded experiment that a run of a later upload replaced; it counts nowhere. */
@Entity('replaced_runs')
@Index('replaced_runs_by_session', ['session_id', 'replaced_at', 'id'])
export class ReplacedRunEntity extends AnyRun {
  @Column('uuid') readonly replaced_by!: string;
  @Column('timestamptz') readonly replaced_at!: Date;
}
