import { Followers, serviceCaller } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { OAuthQueries } from './oauth.queries';
import { OAUTH_VIEW } from './oauth.projection';
import { ProviderCommands } from './provider/provider.commands';

const AT_ONCE = 50;

/** Removes the OAuth providers of a workspace that is removed, with their tokens and sign-ins that are under way. */
@Injectable()
export class OAuthRemover {
  constructor(
    private readonly providers: ProviderCommands,
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly queries: OAuthQueries,
  ) {}

  /** Removes some of the providers, and returns how many it found. */
  async remove(tenant: string): Promise<number> {
    const found = (await this.queries.providers(tenant)).slice(0, AT_ONCE);
    const caller = serviceCaller({ tenant, actor: 'system:auth-providers' });
    for (const { id } of found) {
      const { position } = await this.providers.remove(caller, id);
      await this.followers.passed(position, [OAUTH_VIEW]);
    }
    await this.pool.query('delete from oauth_authorizations where tenant_id = $1', [tenant]);
    return found.length;
  }
}
