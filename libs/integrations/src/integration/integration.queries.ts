import { Injectable } from '@nestjs/common';
import { DataSource, type Repository } from 'typeorm';
import { IntegrationEntity } from './integration.entity';

/** Queries of the table `integrations`. */
@Injectable()
export class IntegrationQueries {
  private readonly integrations: Repository<IntegrationEntity>;

  constructor(db: DataSource) {
    this.integrations = db.getRepository(IntegrationEntity);
  }

  /** Returns a page of a tenant's integrations, the newest first; all of them without a page. */
  async list(tenantId: string, page?: { readonly limit: number; readonly offset: number }) {
    const rows = await this.integrations.find({
      where: { tenant_id: tenantId },
      order: { created_at: 'desc', id: 'desc' },
      ...(page && { take: page.limit + 1, skip: page.offset }),
    });
    const found = rows.map(({ state }) => state);
    return { items: page ? found.slice(0, page.limit) : found, more: page !== undefined && found.length > page.limit };
  }
}
