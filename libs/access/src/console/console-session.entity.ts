import { timeText } from '@fairlead/postgres';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ConsoleSession } from './console-session';

@Entity('console_sessions')
@Index('console_sessions_key_id_idx', ['key_id'])
@Index('console_sessions_expires_at_idx', ['expires_at'])
export class ConsoleSessionEntity implements ConsoleSession {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly key_id!: string;
  @Column('text') readonly key_hash!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('uuid') readonly organization_id!: string;
  @Column('text') readonly hash!: string;
  @Column('text') readonly address!: string;
  @Column('timestamptz', { transformer: timeText }) readonly created_at!: string;
  @Column('timestamptz', { transformer: timeText }) readonly used_at!: string;
  @Column('timestamptz', { transformer: timeText }) readonly expires_at!: string;
  @Column('timestamptz', { nullable: true, transformer: timeText }) readonly ended_at!: string | null;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
}
