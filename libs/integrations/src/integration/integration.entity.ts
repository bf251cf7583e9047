import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Integration } from './integration';

@Entity('integrations')
@Index('integrations_page', ['tenant_id', 'created_at', 'id'])
export class IntegrationEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('simple-json') readonly state!: Integration;
}
