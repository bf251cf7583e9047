import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('audit_log')
@Index('audit_log_page', ['tenant_id', 'time', 'id'])
@Index('audit_log_resource', ['resource_id'], { type: 'hash' })
export class AuditLogEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @Column('timestamptz') readonly time!: Date;
  @Column('text') readonly operation!: string;
  @Column('text') readonly actor!: string;
  @Column('text') readonly resource!: string;
  @Column('text') readonly resource_id!: string;
  @Column('text', { nullable: true }) readonly request_id!: string | null;
  @Column('text', { nullable: true }) readonly request!: string | null;
  @Column('text', { nullable: true }) readonly address!: string | null;
  @Column('text', { nullable: true }) readonly reason!: string | null;
}
