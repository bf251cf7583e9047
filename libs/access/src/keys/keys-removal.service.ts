import { EventStore, Followers, handle, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Authenticator } from '../authenticator.service';
import { apiKeyModel, endKey } from './api-key';
import { apiKeysProjection, ApiKeyView } from './api-key.projection';

const AT_ONCE = 100;

/** Revokes the keys of a workspace that is removed. */
@Injectable()
export class KeyRemover {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly view: ApiKeyView,
    private readonly authenticator: Authenticator,
  ) {}

  /** Revokes some of the keys, and returns how many it found. */
  async remove(tenant: string): Promise<number> {
    const ids = await this.view.working(tenant, AT_ONCE);
    for (const id of ids) {
      const stream = streamName('apiKey', id);
      const { position } = await handle(this.store, apiKeyModel, stream, endKey, { tenant, actor: 'system:access' });
      await this.followers.passed(position, [apiKeysProjection.name]);
    }
    if (ids.length > 0) this.authenticator.forgetKeys();
    return ids.length;
  }
}
