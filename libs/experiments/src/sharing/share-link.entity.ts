import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A comparison or a run that whoever has the token of the link may read until it expires, but for what is hidden. */
@Entity('share_links')
@Index('share_links_by_tenant', ['tenant_id', 'created_at'])
@Index('share_links_by_experiment', ['experiments'], { type: 'gin' })
export class ShareLinkEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('text') readonly kind!: string;
  @Column('uuid', { nullable: true }) readonly dataset_id!: string | null;
  @Column('uuid', { array: true }) readonly experiments!: string[];
  @Column('uuid', { nullable: true }) readonly run_id!: string | null;
  @Column('text', { array: true }) readonly hidden!: string[];
  @Column('text', { unique: true }) readonly digest!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly expires_at!: Date;
}
