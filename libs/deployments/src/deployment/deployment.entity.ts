import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Columns of a deployment that lists filter and order by. */
@Entity('deployments')
@Index('deployments_page', ['tenant_id', 'created_at', 'id'])
@Index('deployments_name', ['tenant_id', 'name'])
@Index('deployments_name_contains', ['name'], { type: 'gin' })
@Index('deployments_tags', ['tag_value_ids'], { type: 'gin' })
@Index('deployments_agent', ['tenant_id', 'agent_id', 'agent_environment'], { where: 'agent_id is not null' })
export class DeploymentEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('text') readonly name!: string;
  @Column('text') readonly status!: string;
  @Column('text', { nullable: true }) readonly deployment_type!: string | null;
  @Column('uuid', { nullable: true }) readonly listener_id!: string | null;
  @Column('text', { nullable: true }) readonly image_version!: string | null;
  @Column('uuid', { array: true }) readonly tag_value_ids!: readonly string[];
  @Column('text', { nullable: true }) readonly agent_id!: string | null;
  @Column('text', { nullable: true }) readonly agent_environment!: string | null;
}

/** The rendered answer, which changes with every event. */
@Entity('deployment_documents')
export class DeploymentDocumentEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
  /** Counts what clients change: the ETag. */
  @Column('int') readonly edition!: number;
  /** JSON text of the answer. */
  @Column('text') readonly document!: string;
  /** JSON text of what the state has besides. */
  @Column('text') readonly unshown!: string;
}
