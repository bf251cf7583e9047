import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SavedView } from './saved-view';

@Entity('saved_views')
export class SavedViewEntity {
  @PrimaryColumn('uuid') readonly tenant_id!: string;
  @PrimaryColumn('uuid') readonly id!: string;
  /** Version of its stream. */
  @Column('int') readonly version!: number;
  @Column('text') readonly page!: SavedView['page'];
  @Column('simple-json') readonly state!: SavedView;
}
