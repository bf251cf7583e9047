import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Listener } from './listener';

@Entity('listeners')
@Index('listeners_page', ['tenant_id', 'created_at', 'id'])
export class ListenerEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('simple-json') readonly record!: Listener;
}
