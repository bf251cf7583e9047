import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ExampleAttachment } from './example-rows';

@Entity('examples')
@Index('examples_by_time', ['dataset_id', 'valid_from', 'sequence'])
@Index('examples_with_metadata', ['dataset_id'], { where: 'metadata is not null' })
export class ExampleEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly dataset_id!: string;
  @PrimaryColumn('timestamptz') readonly valid_from!: Date;
  @Column('timestamptz', { nullable: true }) readonly valid_to!: Date | null;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('integer', { default: 0 }) readonly sequence!: number;
  @Column('text') readonly name!: string;
  /** JSON text, as are outputs and metadata. */
  @Column('text') readonly inputs!: string;
  @Column('text', { nullable: true }) readonly outputs!: string | null;
  @Column('text', { nullable: true }) readonly metadata!: string | null;
  @Column('uuid', { nullable: true }) readonly source_run_id!: string | null;
  @Column('jsonb', { nullable: true }) readonly attachments!: readonly ExampleAttachment[] | null;
  /** Tell a changed example without reading it. */
  @Column({ type: 'uuid', nullable: true, generatedType: 'STORED', asExpression: '(md5(inputs))::uuid' })
  readonly inputs_md5!: string | null;
  @Column({ type: 'uuid', nullable: true, generatedType: 'STORED', asExpression: '(md5(outputs))::uuid' })
  readonly outputs_md5!: string | null;
}
