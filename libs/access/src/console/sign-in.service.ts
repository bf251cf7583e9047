import { effectiveScopes } from '@fairlead/api';
import { Workspaces } from '@fairlead/eventing';
import { Forbidden, type Infer, Unauthorized } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { ApiKeyEntity } from '../keys/api-key.entity';
import { isLive, KnownKeys } from '../keys/known-keys.service';
import { TenantQueries } from '../tenants/tenant.queries';
import { ConsoleSessionCommands } from './console-session.commands';
import { CodeUnusable } from './console.errors';
import type { signInRequest } from './console.schema';

/** The key of a new session, and the workspace that the session begins in. */
interface Beginning {
  readonly key: ApiKeyEntity;
  readonly tenantId: string;
}

/** Finds the key for a session of the console. */
@Injectable()
export class SignIn {
  constructor(
    private readonly keys: KnownKeys,
    private readonly tenants: TenantQueries,
    private readonly workspaces: Workspaces,
    private readonly sessions: ConsoleSessionCommands,
  ) {}

  /**
   * Returns the key with the text that was sent, or the one that made the code. The session begins in the workspace of the
   * code, in the key's own, or in the oldest of its organisation.
   * @throws Unauthorized, Forbidden where there is no workspace, WorkspaceStopped
   */
  async begin({ api_key, code }: Infer<typeof signInRequest>): Promise<Beginning> {
    if (api_key !== undefined) return this.beginWith(await this.keys.find(api_key));
    try {
      const { key_id, key_hash, tenant_id } = await this.sessions.redeem(code!);
      return await this.beginWith(await this.keys.withHash(key_id, key_hash), tenant_id);
    } catch (error) {
      throw error instanceof Unauthorized ? new CodeUnusable() : error;
    }
  }

  private async beginWith(key: ApiKeyEntity | undefined, named?: string): Promise<Beginning> {
    if (!key || !isLive(key)) throw new Unauthorized();
    if (!effectiveScopes(key.scopes).has('read')) throw Forbidden.without('read');
    const tenantId = named ?? key.tenant_id ?? (await this.tenants.list(key.organization_id, false))[0]?.id;
    if (tenantId === undefined) throw new Forbidden('The organisation of this key has no workspace yet.');
    await this.workspaces.requireWorking(tenantId);
    return { key, tenantId };
  }
}
