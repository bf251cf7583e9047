import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A run or dataset that whoever has a token may read. The token is sealed, and recognised by its digest. */
@Entity('shares')
@Index('shares_by_subject', ['tenant_id', 'kind', 'subject_id'])
@Index('shares_by_session', ['session_id'])
export class ShareEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('text') readonly kind!: string;
  @Column('uuid') readonly subject_id!: string;
  @Column('uuid', { nullable: true }) readonly session_id!: string | null;
  @Column('jsonb') readonly token!: unknown;
  @Column('text', { unique: true }) readonly digest!: string;
  @Column('timestamptz') readonly shared_at!: Date;
}
