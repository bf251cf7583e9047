import { DeploymentNames, type NamedDeployment } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

const MOST = 10;

/** The names of deployments by the address that they spell, from the read model. */
@Injectable()
export class SpelledNames extends DeploymentNames {
  constructor(private readonly pool: Pool) {
    super();
  }

  async spelled(tenantId: string, address: string): Promise<readonly NamedDeployment[]> {
    if (address === '') return [];
    // As spelledAddress does. In the locale C, lower() leaves all but A to Z as they are, which spell nothing.
    const { rows } = await this.pool.query<NamedDeployment>({
      name: 'deployments that spell an address',
      text: `select id, name from deployments
        where tenant_id = $1 and (id::text = $2
          or trim(both '-' from regexp_replace(lower(name collate "C"), '[^a-z0-9]+', '-', 'g')) = $2)
        order by created_at, id limit ${MOST}`,
      values: [tenantId, address],
    });
    return rows;
  }
}
