import { EventStore, Followers, handle, nameStream, release, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { OAuthQueries } from './oauth.queries';
import { OAUTH_VIEW } from './oauth.view';
import { providerModel, removeProvider } from './provider';

const AT_ONCE = 50;

/** Removes the OAuth providers of a workspace that is removed, with their tokens and sign-ins that are under way. */
@Injectable()
export class OAuthRemover {
  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly queries: OAuthQueries,
  ) {}

  /** Removes some; answers how many it found. */
  async remove(tenant: string): Promise<number> {
    const found = (await this.queries.providers(tenant)).slice(0, AT_ONCE);
    for (const { id, provider_id } of found) {
      const metadata = { tenant, actor: 'system:auth-providers' };
      const stream = streamName('oauthProvider', id);
      const decide = removeProvider(tenant, id);
      const { position } = await handle(this.store, providerModel, stream, decide, metadata);
      await release(this.store, nameStream('oauthProviderId', tenant, provider_id), stream, metadata);
      await this.followers.passed(position, [OAUTH_VIEW]);
    }
    await this.pool.query('delete from oauth_authorizations where tenant_id = $1', [tenant]);
    return found.length;
  }
}
