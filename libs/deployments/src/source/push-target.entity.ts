import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A deployment that a push of an integration's code host can concern. */
@Entity('push_targets')
@Index('push_targets_integration', ['integration_id', 'repository'])
export class PushTargetEntity {
  @PrimaryColumn('uuid') readonly deployment_id!: string;
  @Column('uuid') readonly integration_id!: string;
  /** Address of the repository, as addresses are compared. */
  @Column('text', { default: '' }) readonly repository!: string;
}
