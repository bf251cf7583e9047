import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Root runs of a live session that start in an hour, in a day (UTC) or ever, and whose latency is in one bucket; usage
 * counts in the hour of the run that says it.
 */
@Entity('trace_counts')
export class TraceCountEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly session_id!: string;
  /** `hour`, `day`, or `all`. */
  @PrimaryColumn('text') readonly unit!: string;
  /** Start of the hour or day. */
  @PrimaryColumn('timestamptz') readonly time!: Date;
  @PrimaryColumn('smallint') readonly bucket!: number;
  @Column('bigint') readonly runs!: string;
  @Column('bigint') readonly errors!: string;
  @Column('numeric') readonly prompt_tokens!: string;
  @Column('numeric') readonly completion_tokens!: string;
  @Column('numeric') readonly total_tokens!: string;
  @Column('numeric') readonly prompt_cost!: string;
  @Column('numeric') readonly completion_cost!: string;
  @Column('numeric') readonly total_cost!: string;
  /** Number of runs that say each usage. */
  @Column('bigint') readonly prompt_tokens_known!: string;
  @Column('bigint') readonly completion_tokens_known!: string;
  @Column('bigint') readonly total_tokens_known!: string;
  @Column('bigint') readonly prompt_cost_known!: string;
  @Column('bigint') readonly completion_cost_known!: string;
  @Column('bigint') readonly total_cost_known!: string;
}
