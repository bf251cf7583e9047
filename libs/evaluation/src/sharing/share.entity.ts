import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A run or dataset that whoever has a token may read. The token is sealed, and recognised by its digest. */
@Entity('shares')
@Index('shares_by_subject', ['tenant_id', 'kind', 'subject_id'])
@Index('shares_by_session', ['session_id'])
export class ShareEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('text') readonly kind!: string;
  @Column('uuid') readonly subject_id!: string;
  @Column('uuid', { nullable: true }) readonly session_id!: string | null;
  @Column('jsonb') readonly token!: unknown;
  @Column('text', { unique: true }) readonly digest!: string;
  @Column('timestamptz') readonly shared_at!: Date;
}

/** A comparison or a run that whoever has the token of the link may read until it expires, but for what is hidden. */
@Entity('share_links')
@Index('share_links_by_tenant', ['tenant_id', 'created_at'])
@Index('share_links_by_experiment', ['experiments'], { type: 'gin' })
export class ShareLinkEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('text') readonly kind!: string;
  @Column('uuid', { nullable: true }) readonly dataset_id!: string | null;
  @Column('uuid', { array: true }) readonly experiments!: string[];
  @Column('uuid', { nullable: true }) readonly run_id!: string | null;
  @Column('text', { array: true }) readonly hidden!: string[];
  @Column('text', { unique: true }) readonly digest!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('timestamptz') readonly expires_at!: Date;
}
