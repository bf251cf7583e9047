import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import type { SavedView } from './saved-view';
import { SavedViewEntity } from './saved-view.entity';

/** Queries of the table `saved_views`. */
@Injectable()
export class SavedViewQueries {
  private readonly views: Repository<SavedViewEntity>;

  constructor(db: DataSource) {
    this.views = db.getRepository(SavedViewEntity);
  }

  /** A page of a tenant's views, of one list alone when it is named, the oldest first. */
  async list(tenantId: string, listed: SavedView['page'] | undefined, page: { limit: number; offset: number }) {
    const rows = await this.views.find({
      where: { tenant_id: tenantId, ...(listed && { page: listed }) },
      order: { id: 'asc' },
      take: page.limit + 1,
      skip: page.offset,
    });
    return { items: rows.slice(0, page.limit).map(({ state }) => state), more: rows.length > page.limit };
  }
}
