import { timeText } from '@fairlead/postgres';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ApiKey } from './api-key';

@Entity('api_keys')
@Index('api_keys_organization_id_created_at_idx', ['organization_id', 'created_at'])
@Index('api_keys_made_by_idx', ['made_by'])
export class ApiKeyEntity implements ApiKey {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('text') readonly kind!: ApiKey['kind'];
  @Column('uuid', { nullable: true }) readonly tenant_id!: string | null;
  @Column('uuid') readonly organization_id!: string;
  @Column('text') readonly description!: string;
  @Column('text', { array: true }) readonly scopes!: ApiKey['scopes'];
  @Column('text') readonly short_key!: string;
  @Column('text') readonly hash!: string;
  @Column('uuid', { nullable: true }) readonly made_by!: string | null;
  @Column('timestamptz', { transformer: timeText }) readonly created_at!: string;
  @Column('timestamptz', { nullable: true, transformer: timeText }) readonly expires_at!: string | null;
  @Column('timestamptz', { nullable: true, transformer: timeText }) readonly revoked_at!: string | null;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
}
