import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { RevisionStatus } from '@fairlead/contracts';
import type { Source } from '../model/deployment-events';

@Entity('revisions')
@Index('revisions_page', ['deployment_id', 'number'])
export class RevisionEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly deployment_id!: string;
  /** Version of the deployment's stream. */
  @Column('int') readonly version!: number;
  /** Counts the revisions of its deployment, from 1. */
  @Column('int') readonly number!: number;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly updated_at!: Date;
  @Column('text') readonly status!: RevisionStatus;
  @Column('text') readonly source!: Source;
  /** JSON text. */
  @Column('text') readonly source_revision_config!: string;
}
