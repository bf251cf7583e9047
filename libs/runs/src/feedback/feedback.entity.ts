import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

abstract class AnyFeedback {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('uuid') readonly session_id!: string;
  @Column('text') readonly key!: string;
  @Column('double precision', { nullable: true }) readonly score!: number | null;
  @Column('text', { nullable: true }) readonly score_sent!: string | null;
  /** JSON text, as are correction, source metadata and extra. */
  @Column('text', { nullable: true }) readonly value!: string | null;
  @Column('text', { nullable: true }) readonly comment!: string | null;
  @Column('text', { nullable: true }) readonly correction!: string | null;
  @Column('text') readonly source_type!: string;
  @Column('text', { nullable: true }) readonly source_metadata!: string | null;
  @Column('text', { nullable: true }) readonly extra!: string | null;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly modified_at!: Date;
  @Column('uuid', { nullable: true }) readonly comparative_experiment_id!: string | null;
}

@Entity('feedback')
@Index('feedback_by_session', ['session_id', 'created_at', 'id'])
@Index('feedback_by_run', ['run_id'])
@Index('feedback_by_comparison', ['comparative_experiment_id'], { where: 'comparative_experiment_id is not null' })
export class FeedbackEntity extends AnyFeedback {
  @Column('uuid', { nullable: true }) readonly run_id!: string | null;
}

/** Feedback on a run that was replaced by another upload; it counts nowhere. */
@Entity('replaced_feedback')
@Index('replaced_feedback_by_session', ['session_id'])
@Index('replaced_feedback_by_run', ['run_id'])
export class ReplacedFeedbackEntity extends AnyFeedback {
  @Column('uuid') readonly run_id!: string;
}

@Entity('awaited_feedback')
export class AwaitedFeedbackEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly run_id!: string;
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('text') readonly data!: string;
}

@Entity('feedback_configs')
export class FeedbackConfigEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('text') readonly key!: string;
  @Column('text') readonly config!: string;
  @Column('boolean', { nullable: true }) readonly is_lower_score_better!: boolean | null;
  @Column('timestamptz', { default: () => 'now()' }) readonly modified_at!: Date;
}

@Entity('feedback_changes')
@Index('feedback_changes_by_session', ['session_id'])
export class FeedbackChangeEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly session_id!: string;
  @Column('text') readonly change!: string;
  @Column('boolean') readonly deleted!: boolean;
}
