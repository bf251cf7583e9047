import { randomUUID } from 'node:crypto';
import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  EventStore,
  handle,
  load,
  type Metadata,
  nameStream,
  NameTaken,
  Quotas,
  reserve,
  StoredBytes,
  streamName,
} from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, query, shape } from '@fairlead/api';
import { bool, Conflict, Forbidden, object, optional, refine, str, uuid } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { usage, workspace } from './access.answers.schema';
import { Authenticator, NO_TENANT } from './access.authenticator';
import { AccessOptions } from './access.options';
import { createTenant, type Tenant, TenantExists, type TenantFacts, tenantModel } from './tenant';
import { tenantsProjection, TenantView } from './tenant.view';

const newTenant = object({
  display_name: str({ min: 1, max: 200 }),
  tenant_handle: optional(str({ max: 100, pattern: /^[a-z0-9][a-z0-9_-]*$/ })),
  id: optional(refine(uuid(), (id) => (id === NO_TENANT ? 'the nil UUID names no workspace' : undefined))),
});
const filters = object({ include_deleted: optional(bool()), skip_create: optional(bool()) });

/** The tenants a key may use, under both names clients have for them. */
@Area('Keys and workspaces')
@Controller('/api/v1')
export class TenantsController {
  constructor(
    private readonly store: EventStore,
    private readonly quotas: Quotas,
    private readonly stored: StoredBytes,
    private readonly view: TenantView,
    private readonly authenticator: Authenticator,
    private readonly options: AccessOptions,
  ) {}

  @Get('workspaces')
  @Access('read', { views: [tenantsProjection.name], acrossWorkspaces: true })
  @Describe({
    summary: 'List the workspaces that the key opens',
    query: filters,
    answers: { 200: shape.list(workspace) },
  })
  async workspaces(@Req() request: FastifyRequest) {
    return this.list(request);
  }

  @Get('tenants')
  @Access('read', { views: [tenantsProjection.name], acrossWorkspaces: true })
  @Describe({
    summary: 'List the workspaces that the key opens, under their other name',
    query: filters,
    answers: { 200: shape.list(workspace) },
  })
  async tenants(@Req() request: FastifyRequest) {
    return this.list(request);
  }

  @Post('workspaces')
  @HttpCode(200)
  @Access('admin')
  @Describe({
    summary: 'Create a workspace',
    description: 'Needs a key of the organisation.',
    body: newTenant,
    answers: { 200: workspace, 409: 'The id or the handle is in use, or this installation has one workspace only.' },
    takes: ['x-reason'],
  })
  async create(@Req() request: FastifyRequest) {
    const draft = body(newTenant, request);
    const key = await this.authenticator.keyOf(request.actor);
    if (key.kind === 'tenant') throw new Forbidden();
    const { oneWorkspace } = this.options;
    if (oneWorkspace !== undefined) throw new Conflict(`${oneWorkspace}.`);
    const facts: TenantFacts = {
      id: draft.id ?? randomUUID(),
      organization_id: request.actor.organizationId,
      display_name: draft.display_name,
      tenant_handle: draft.tenant_handle ?? null,
    };
    const decide = createTenant(facts);
    const stream = streamName('tenant', facts.id);
    // Not the Idempotency-Key: a repeated command is answered without asking who may see it.
    const metadata = { ...metadataOf(request), tenant: facts.id, causationId: undefined };
    if (facts.tenant_handle !== null) {
      decide((await load(this.store, tenantModel, stream)).state);
      await this.reserveHandle(facts.tenant_handle, stream, metadata);
    }
    const { state, version } = await handle(this.store, tenantModel, stream, decide, metadata);
    this.authenticator.learnTenant({ ...state!, version });
    return answer(request, state!);
  }

  @Get('workspaces/current/usage')
  @Access('read')
  @Describe({ summary: 'Get what the workspace has and may have of each kind', answers: { 200: usage } })
  async usage(@Req() { actor }: FastifyRequest) {
    const [things, used] = await Promise.all([this.quotas.usage(actor.tenantId), this.stored.used(actor.tenantId)]);
    return { ...things, stored_bytes: { used, limit: this.stored.limit } };
  }

  private async reserveHandle(name: string, stream: string, metadata: Metadata): Promise<void> {
    try {
      await reserve(this.store, nameStream('tenantHandle', '', name), stream, metadata);
    } catch (error) {
      if (error instanceof NameTaken) throw new TenantExists(`A workspace with the handle ${name} already exists.`);
      throw error;
    }
  }

  private async list(request: FastifyRequest) {
    const { include_deleted = false } = query(filters, request);
    const { kind } = await this.authenticator.keyOf(request.actor);
    const { tenantId, organizationId } = request.actor;
    const tenants =
      kind === 'tenant'
        ? await this.view.byIds([tenantId])
        : await this.view.list(kind === 'operator' ? undefined : organizationId, include_deleted);
    return tenants.map((tenant) => answer(request, tenant));
  }
}

function answer({ actor }: FastifyRequest, tenant: Tenant) {
  return {
    id: tenant.id,
    organization_id: tenant.organization_id,
    created_at: tenant.created_at,
    display_name: tenant.display_name,
    is_personal: false,
    is_deleted: tenant.status === 'removed',
    tenant_handle: tenant.tenant_handle,
    data_plane_url: null,
    read_only: !actor.scopes.has('write'),
    role_id: null,
    role_name: null,
    permissions: [...actor.scopes].sort(),
  };
}
