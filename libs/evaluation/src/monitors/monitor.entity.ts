import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Monitor } from './monitor';

@Entity('monitors')
@Index('monitors_by_project', ['tenant_id', 'project_id'])
export class MonitorEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly id!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
  @Column('uuid') readonly project_id!: string;
  @Column('simple-json') readonly state!: Monitor;
}
