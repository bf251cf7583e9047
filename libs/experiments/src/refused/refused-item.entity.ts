import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Items of one project that were refused for the same reason: how many, and the latest of them. */
@Entity('refused_items')
@Index('refused_items_by_time', ['tenant_id', 'last_at'])
export class RefusedItemEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  /** Derived from the project, the kind, the place and the reason. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid', { nullable: true }) readonly session_id!: string | null;
  @Column('text', { nullable: true }) readonly session_name!: string | null;
  @Column('text') readonly kind!: string;
  @Column('text') readonly place!: string;
  @Column('text') readonly reason!: string;
  @Column('bigint') readonly count!: string;
  @Column('text', { array: true }) readonly item_ids!: string[];
  @Column('timestamptz') readonly first_at!: Date;
  @Column('timestamptz') readonly last_at!: Date;
}
