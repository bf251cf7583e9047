import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('sessions')
@Unique('sessions_tenant_id_name_key', ['tenant_id', 'name'])
@Index('sessions_by_time', ['tenant_id', 'start_time', 'id'])
@Index('sessions_by_dataset', ['reference_dataset_id'])
@Index('sessions_by_payload', ['tenant_id', 'payload_sha256'])
@Index('sessions_by_metadata', ['metadata'], { type: 'gin' })
@Index('sessions_by_name', ['name'], { type: 'gin' })
export class SessionEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('text') readonly name!: string;
  @Column('text', { nullable: true }) readonly description!: string | null;
  @Column('timestamptz') readonly start_time!: Date;
  @Column('timestamptz', { nullable: true }) readonly end_time!: Date | null;
  @Column('text', { nullable: true }) readonly extra!: string | null;
  @Column('jsonb', { nullable: true }) readonly metadata!: unknown;
  @Column('uuid', { nullable: true }) readonly reference_dataset_id!: string | null;
  @Column('uuid', { nullable: true }) readonly default_dataset_id!: string | null;
  @Column('text', { nullable: true }) readonly trace_tier!: string | null;
  @Column('int', { nullable: true }) readonly test_run_number!: number | null;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('boolean', { default: false }) readonly persisted!: boolean;
  @Column('text', { nullable: true }) readonly payload_sha256!: string | null;
  @Column('int', { nullable: true }) readonly run_count!: number | null;
  @Column('double precision', { nullable: true }) readonly latency_p50!: number | null;
  @Column('double precision', { nullable: true }) readonly latency_p99!: number | null;
  @Column('double precision', { nullable: true }) readonly error_rate!: number | null;
  @Column('timestamptz', { nullable: true }) readonly last_run_start_time!: Date | null;
  /** JSON texts. */
  @Column('text', { nullable: true }) readonly feedback_stats!: string | null;
  @Column('text', { nullable: true }) readonly session_feedback_stats!: string | null;
  /** Sums as decimal texts. */
  @Column('numeric', { nullable: true }) readonly prompt_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly completion_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly total_tokens!: string | null;
  @Column('numeric', { nullable: true }) readonly prompt_cost!: string | null;
  @Column('numeric', { nullable: true }) readonly completion_cost!: string | null;
  @Column('numeric', { nullable: true }) readonly total_cost!: string | null;
  /** The statistics as they were stored with the counts of the session; null where its runs were never counted. */
  @Column('text', { nullable: true }) readonly counted_as!: string | null;
  @Column('int') readonly version!: number;
}
