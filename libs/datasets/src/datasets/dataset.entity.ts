import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('datasets')
@Unique('datasets_tenant_id_name_key', ['tenant_id', 'name'])
@Index('datasets_by_time', ['tenant_id', 'created_at', 'id'])
@Index('datasets_by_name', ['name'], { type: 'gin' })
@Index('datasets_by_use', ['tenant_id', 'last_session_start_time', 'id'])
export class DatasetEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('text') readonly name!: string;
  @Column('text', { nullable: true }) readonly description!: string | null;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly modified_at!: Date;
  @Column('boolean') readonly externally_managed!: boolean;
  @Column('text', { default: 'kv' }) readonly data_type!: string;
  @Column('int', { default: 0 }) readonly example_count!: number;
  @Column('int', { default: 0 }) readonly session_count!: number;
  @Column('timestamptz', { nullable: true }) readonly last_session_start_time!: Date | null;
  /** JSON text, as are the schemas and directions below. */
  @Column('text', { nullable: true }) readonly metadata!: string | null;
  @Column('text', { nullable: true }) readonly inputs_schema!: string | null;
  @Column('text', { nullable: true }) readonly outputs_schema!: string | null;
  /** Directions of its scores, as JSON text; null where none were set. */
  @Column('text', { nullable: true }) readonly score_directions!: string | null;
  /** The experiment that the others are compared with; it may have been deleted since. */
  @Column('uuid', { nullable: true }) readonly baseline_experiment_id!: string | null;
  @Column('int') readonly version!: number;
}

@Entity('dataset_versions')
export class DatasetVersionEntity {
  @PrimaryColumn('uuid') readonly dataset_id!: string;
  @PrimaryColumn('timestamptz') readonly as_of!: Date;
  /** Null in rows of before, until they are filled. */
  @Column('uuid', { nullable: true }) readonly tenant_id!: string | null;
}

@Entity('dataset_tags')
export class DatasetTagEntity {
  @PrimaryColumn('uuid') readonly dataset_id!: string;
  @PrimaryColumn('text') readonly tag!: string;
  @Column('timestamptz') readonly as_of!: Date;
  @Column('uuid', { nullable: true }) readonly tenant_id!: string | null;
}
