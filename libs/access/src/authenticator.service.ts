import { hash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Consistency, Vault, Workspaces, WorkspaceStopped } from '@fairlead/eventing';
import { type Actor, credentialsIn, effectiveScopes, type ProgramActor, PROGRAM_KEY, ProgramKeys } from '@fairlead/api';
import { canonicalUuid, Forbidden, Recent, Unauthorized } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { OPERATOR_KEY_ID } from './keys/api-key';
import type { ApiKeyEntity } from './keys/api-key.entity';
import { apiKeysProjection, ApiKeyView } from './keys/api-key.projection';
import { KEPT, Lookup } from './keys/lookup';
import type { ConsoleSessionEntity } from './console/console-session.entity';
import { ConsoleSessions } from './console/console-session.commands';
import { sessionScopes } from './console/console-session';
import { keyIdOf } from './keys/key-text';
import type { TenantEntity } from './tenants/tenant.entity';
import { tenantsProjection, TenantView } from './tenants/tenant.projection';

/** Subject whose data key in the vault is the pepper of all key hashes. */
export const PEPPER = 'apiKeys';
/** Tenant of a request about the organisation that names none; nothing belongs to it. */
export const NO_TENANT = '00000000-0000-0000-0000-000000000000';

const LONGEST_KEY = 256;
/** The form of all keys, that of the operator included. */
const POSSIBLE_KEY = /^[\x21-\x7e]{20,256}$/;

/** Authenticates requests. */
@Injectable()
export class Authenticator {
  private readonly keys: Lookup<ApiKeyEntity>;
  /** Keys whose text has not been right before: a flood of unknown ones does not delay the others' queries. */
  private readonly unproven: Lookup<ApiKeyEntity>;
  private readonly tenants: Lookup<TenantEntity>;
  /** Keys whose text was right before, by its SHA-256: finding them again costs neither HMAC nor decoding. */
  private readonly verified = new Recent<Pick<ApiKeyEntity, 'id' | 'hash'>>(KEPT);

  constructor(
    private readonly vault: Vault,
    consistency: Consistency,
    private readonly workspaces: Workspaces,
    keys: ApiKeyView,
    private readonly tenantView: TenantView,
    private readonly sessions: ConsoleSessions,
    private readonly programs: ProgramKeys,
  ) {
    this.keys = new Lookup((ids) => keys.byIds(ids));
    // What another process has just created is known here as soon as it was answered there.
    const shown = (view: string) => () => consistency.upToDate(undefined, [view]);
    this.unproven = new Lookup((ids) => keys.byIds(ids), shown(apiKeysProjection.name));
    this.tenants = new Lookup((ids) => tenantView.byIds(ids), shown(tenantsProjection.name));
  }

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
    const key = text === undefined ? session && (await this.keyBehind(session)) : await this.find(text);
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
      if (!POSSIBLE_KEY.test(text) || !(await this.find(text))) continue;
      delete headers.authorization;
      return;
    }
  }

  /** The actor of a program that this process runs. */
  private async programActor(request: FastifyRequest, { keyId, tenantId, project }: ProgramActor): Promise<Actor> {
    request.claimant = { keyId, tenantId };
    const header = request.headers['x-tenant-id'];
    if (header && header !== tenantId) throw new Forbidden();
    const status = await this.workspaces.stoppedStatus(tenantId);
    if (status !== undefined) throw new WorkspaceStopped(status);
    const tenant = await this.tenants.get(tenantId);
    if (!tenant) throw new Unauthorized();
    return { keyId, tenantId, organizationId: tenant.organization_id, scopes: new Set(), project };
  }

  /**
   * The key with this text, for a session of the console, and the workspace that the session begins in: its own, or the
   * oldest of its organisation. @throws Unauthorized, Forbidden where there is no workspace, WorkspaceStopped
   */
  async signIn(text: string): Promise<{ key: ApiKeyEntity; tenantId: string }> {
    return this.begin(await this.find(text));
  }

  /** The same for the key of this id, unless its text was replaced since. */
  async signInAs(id: string, hash: string, tenantId: string): Promise<{ key: ApiKeyEntity; tenantId: string }> {
    return this.begin(await this.keyBehind({ key_id: id, key_hash: hash }), tenantId);
  }

  private async begin(key: ApiKeyEntity | undefined, named?: string): Promise<{ key: ApiKeyEntity; tenantId: string }> {
    if (!key || !isLive(key)) throw new Unauthorized();
    if (!effectiveScopes(key.scopes).has('read')) throw new Forbidden();
    const tenantId = named ?? key.tenant_id ?? (await this.tenantView.list(key.organization_id, false))[0]?.id;
    if (tenantId === undefined) throw new Forbidden('The organisation of this key has no workspace yet.');
    await this.requireWorking('POST', key, tenantId);
    return { key, tenantId };
  }

  private async keyBehind(
    session: Pick<ConsoleSessionEntity, 'key_id' | 'key_hash'>,
  ): Promise<ApiKeyEntity | undefined> {
    const key = await this.keys.get(session.key_id);
    return key?.hash === session.key_hash ? key : undefined;
  }

  private async requireWorking(method: string, { kind }: ApiKeyEntity, tenantId: string): Promise<void> {
    const status = await this.workspaces.stoppedStatus(tenantId);
    if (status === undefined) return;
    if (kind === 'operator' && status === 'suspended' && (method === 'GET' || method === 'HEAD')) return;
    throw new WorkspaceStopped(status);
  }

  /** The key of an actor. @throws Unauthorized when it has been removed since. */
  async keyOf(actor: Actor): Promise<ApiKeyEntity> {
    const key = await this.keys.get(actor.keyId);
    if (!key) throw new Unauthorized();
    return key;
  }

  /** Makes a key that was just created or revoked known in this process at once. */
  learnKey(key: ApiKeyEntity): void {
    this.keys.put(key);
    this.unproven.put(key);
  }

  /** Reads all keys anew: with one that was revoked, others have ended. */
  forgetKeys(): void {
    this.keys.forget();
    this.unproven.forget();
  }

  /** Makes a tenant that was just created known in this process at once. */
  learnTenant(tenant: TenantEntity): void {
    this.tenants.put(tenant);
  }

  /** The key with this text, live or not. */
  private async find(text: string): Promise<ApiKeyEntity | undefined> {
    const print = hash('sha256', text, 'base64url');
    const before = this.verified.get(print);
    const known = before && (await this.keys.get(before.id));
    // The text of the operator's key can have been replaced since.
    if (known && known.hash === before.hash) return known;
    const key = await this.verify(text);
    if (!key) return undefined;
    this.verified.set(print, { id: key.id, hash: key.hash });
    return key;
  }

  private async verify(text: string): Promise<ApiKeyEntity | undefined> {
    const expected = Buffer.from(await this.vault.digest(PEPPER, text));
    const id = keyIdOf(text);
    // The operator's key may have any form, that of the others included.
    for (const key of [await this.keys.get(OPERATOR_KEY_ID), id && (await this.unproven.get(id))]) {
      if (key && isSame(Buffer.from(key.hash), expected)) return key;
    }
    return undefined;
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

/** Compares two hashes in constant time. */
function isSame(hash: Buffer, expected: Buffer): boolean {
  return hash.length === expected.length && timingSafeEqual(hash, expected);
}

function isLive(key: ApiKeyEntity): boolean {
  return key.revoked_at === null && (key.expires_at === null || Date.parse(key.expires_at) > Date.now());
}

function tenantNeeded(): Forbidden {
  return new Forbidden('This API key is org-scoped and requires workspace specification. Set X-Tenant-Id.', {
    error: 'org_scoped_key_requires_workspace',
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the console that stands for the key of the request. */
    consoleSession?: ConsoleSessionEntity;
  }
}
