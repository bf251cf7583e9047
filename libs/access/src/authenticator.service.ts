import { type Actor, credentialsIn, effectiveScopes, type ProgramActor, PROGRAM_KEY, ProgramKeys } from '@fairlead/api';
import { Workspaces, WorkspaceStopped } from '@fairlead/eventing';
import { canonicalUuid, Forbidden, Unauthorized } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { sessionScopes } from './console/console-session';
import { ConsoleSessionCommands } from './console/console-session.commands';
import { NO_TENANT } from './keys/api-key';
import type { ApiKeyEntity } from './keys/api-key.entity';
import { isLive, KnownKeys } from './keys/known-keys.service';
import { KnownTenants } from './tenants/known-tenants.service';

const LONGEST_KEY = 256;
/** The form of all keys, that of the operator included. */
const POSSIBLE_KEY = /^[\x21-\x7e]{20,256}$/;

/** Authenticates requests. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly keys: KnownKeys,
    private readonly tenants: KnownTenants,
    private readonly workspaces: Workspaces,
    private readonly sessions: ConsoleSessionCommands,
    private readonly programs: ProgramKeys,
  ) {}

  /**
   * The actor of a request: key from `x-api-key` or `Authorization: Bearer`, tenant from the key or `X-Tenant-Id`. Without
   * a key, the session of the console in its cookie stands for the key that opened it, except for the programs of
   * deployments: their pages are not the console's.
   * A revoked key is refused at once in the process that revoked it and within about a second in others.
   * @throws Unauthorized without a key, or with one that is unknown, malformed, revoked or expired.
   * @throws Forbidden when the key may not act in the tenant, or could act in several and none is named.
   * @throws WorkspaceStopped when the tenant is suspended or removed; the operator may still read in a suspended one.
   */
  async authenticate(request: FastifyRequest): Promise<Actor> {
    const text = keyIn(request);
    const program = text?.startsWith(PROGRAM_KEY) ? this.programs.find(text) : undefined;
    if (program) return this.programActor(request, program);
    const { single = false, scope, console = scope !== 'invoke' } = request.routeOptions.config;
    const session = text === undefined && console ? await this.sessions.find(request) : undefined;
    const key =
      text === undefined
        ? session && (await this.keys.withHash(session.key_id, session.key_hash))
        : await this.keys.find(text);
    if (key) request.claimant = { keyId: key.id, tenantId: key.tenant_id };
    request.unidentified = !hasKey(request) && !this.sessions.isNamedIn(request);
    if (!key || !isLive(key)) throw new Unauthorized();
    const tenant = await this.tenantOf(request, key, session?.tenant_id ?? key.tenant_id);
    await this.requireWorking(request.method, key, tenant.tenantId);
    const operator = key.kind === 'operator' ? { operator: true } : {};
    request.consoleSession = session;
    if (scope === 'invoke') await this.hideSecondKey(request);
    const scopes = session && !single ? sessionScopes(key.scopes) : effectiveScopes(key.scopes);
    return { keyId: key.id, ...tenant, scopes, ...operator };
  }

  /** Removes a key that stands in `Authorization` beside the one in `x-api-key`, before a program sees it. */
  private async hideSecondKey({ raw: { headers } }: FastifyRequest): Promise<void> {
    if (!headers['x-api-key'] || headers.authorization === undefined) return;
    for (const text of credentialsIn(headers.authorization)) {
      if (!POSSIBLE_KEY.test(text) || !(await this.keys.find(text))) continue;
      delete headers.authorization;
      return;
    }
  }

  /** The actor of a program that this process runs. */
  private async programActor(request: FastifyRequest, { keyId, tenantId, project }: ProgramActor): Promise<Actor> {
    request.claimant = { keyId, tenantId };
    const header = request.headers['x-tenant-id'];
    if (header && header !== tenantId) throw new Forbidden();
    await this.workspaces.requireWorking(tenantId);
    const tenant = await this.tenants.get(tenantId);
    if (!tenant) throw new Unauthorized();
    return { keyId, tenantId, organizationId: tenant.organization_id, scopes: new Set(), project };
  }

  private async requireWorking(method: string, { kind }: ApiKeyEntity, tenantId: string): Promise<void> {
    const status = await this.workspaces.stoppedStatus(tenantId);
    if (status === undefined) return;
    if (kind === 'operator' && status === 'suspended' && (method === 'GET' || method === 'HEAD')) return;
    throw new WorkspaceStopped(status);
  }

  private async tenantOf(
    request: FastifyRequest,
    key: ApiKeyEntity,
    home: string | null,
  ): Promise<Pick<Actor, 'tenantId' | 'organizationId'>> {
    const header = request.headers['x-tenant-id'];
    const own = { tenantId: home ?? NO_TENANT, organizationId: key.organization_id };
    if (header === undefined || header === '') {
      if (home === null && !request.routeOptions.config.organization) throw tenantNeeded();
      return own;
    }
    const tenantId = canonicalUuid(String(header));
    if (tenantId === own.tenantId && home !== null) return own;
    if (tenantId === undefined || key.kind === 'tenant') throw new Forbidden();
    const tenant = await this.tenants.get(tenantId);
    if (!tenant || (key.kind === 'organization' && tenant.organization_id !== key.organization_id))
      throw new Forbidden();
    return { tenantId, organizationId: tenant.organization_id };
  }
}

function keyIn({ headers }: FastifyRequest): string | undefined {
  const text = headers['x-api-key'] || /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return typeof text === 'string' && text.length <= LONGEST_KEY ? text : undefined;
}

/** True when a header is there that a key could stand in, whatever it holds. */
function hasKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

function tenantNeeded(): Forbidden {
  return new Forbidden('This API key is org-scoped and requires workspace specification. Set X-Tenant-Id.', {
    error: 'org_scoped_key_requires_workspace',
  });
}
