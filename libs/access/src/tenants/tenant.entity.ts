import { timeText } from '@fairlead/postgres';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Tenant } from './tenant';

@Entity('tenants')
@Index('tenants_organization_id_idx', ['organization_id'])
export class TenantEntity implements Tenant {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly organization_id!: string;
  @Column('text') readonly display_name!: string;
  @Column('text', { nullable: true }) readonly tenant_handle!: string | null;
  @Column('timestamptz', { transformer: timeText }) readonly created_at!: string;
  @Column('text') readonly status!: Tenant['status'];
  @Column('timestamptz', { transformer: timeText }) readonly status_since!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
}
