import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Webhook } from './webhook';

@Entity('webhooks')
@Index('webhooks_page', ['tenant_id', 'created_at', 'id'])
export class WebhookEntity {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid') readonly tenant_id!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
  /** Position in the log at which it was added. */
  @Column('bigint') readonly since!: string;
  @Column('timestamptz') readonly created_at!: Date;
  @Column('boolean') readonly enabled!: boolean;
  @Column('text', { array: true }) readonly event_types!: readonly string[];
  @Column('simple-json') readonly state!: Webhook;
}
