import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('comparative_experiments')
@Index('comparative_experiments_by_dataset', ['dataset_id', 'created_at', 'id'])
export class ComparativeExperimentEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('uuid') readonly dataset_id!: string;
  @Column('text', { nullable: true }) readonly name!: string | null;
  @Column('text', { nullable: true }) readonly description!: string | null;
  /** JSON text. */
  @Column('text', { nullable: true }) readonly extra!: string | null;
  @Column('uuid', { array: true }) readonly experiment_ids!: readonly string[];
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly modified_at!: Date;
}
