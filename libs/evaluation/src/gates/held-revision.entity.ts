import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A revision that its gates hold. */
@Entity('held_revisions')
@Index('held_revisions_by_deployment', ['tenant_id', 'deployment_id'])
export class HeldRevisionEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly deployment_id!: string;
  /** JSON text of the event that says it. */
  @Column('text') readonly held!: string;
}
