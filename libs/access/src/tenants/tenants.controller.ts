import { randomUUID } from 'node:crypto';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import {
  EventStore,
  handle,
  load,
  type Metadata,
  nameStream,
  Quotas,
  reserveName,
  StoredBytes,
  streamName,
} from '@fairlead/eventing';
import { Answers, Area, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import {
  bool,
  Conflict,
  Forbidden,
  type Infer,
  list,
  note,
  object,
  optional,
  refine,
  str,
  uuid,
} from '@fairlead/schema';
import { usage, workspace } from '../access.answers.schema';
import { Authenticator, NO_TENANT } from '../authenticator.service';
import { AccessOptions } from './access.options';
import { createTenant, type Tenant, type TenantFacts, tenantModel } from './tenant';
import { TenantExists } from './tenant.errors';
import { tenantsProjection, TenantView } from './tenant.projection';

const newTenant = object({
  display_name: note(str({ min: 1, max: 200 }), 'Name that people see.'),
  tenant_handle: note(
    optional(str({ max: 100, pattern: /^[a-z0-9][a-z0-9_-]*$/ })),
    'Short name for addresses, unique in the installation (409).',
  ),
  id: note(
    optional(refine(uuid(), (id) => (id === NO_TENANT ? 'the nil UUID names no workspace' : undefined))),
    'Identifier that the workspace gets, unused so far (409); absent: the service makes one.',
  ),
});
const filters = object({
  include_deleted: note(optional(bool()), 'True: workspaces that were removed as well. Default false.'),
  skip_create: note(optional(bool()), 'Accepted because clients send it; listing never creates a workspace.'),
});

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
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({ summary: 'List the workspaces that the key opens' })
  @Answers({ 200: list(workspace) })
  async workspaces(@Context() context: CommandContext, @Query(filters) query: Infer<typeof filters>) {
    return this.list(context, query);
  }

  @Get('tenants')
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({ summary: 'List the workspaces that the key opens, under their other name' })
  @Answers({ 200: list(workspace) })
  async tenants(@Context() context: CommandContext, @Query(filters) query: Infer<typeof filters>) {
    return this.list(context, query);
  }

  @Post('workspaces')
  @HttpCode(200)
  @Scope('admin', { organization: true })
  @Describe({ summary: 'Create a workspace', description: 'Needs a key of the organisation.', takes: ['x-reason'] })
  @Answers({ 200: workspace, 409: 'The id or the handle is in use, or this installation has one workspace only.' })
  async create(@Context() context: CommandContext, @Body(newTenant) draft: Infer<typeof newTenant>) {
    const key = await this.authenticator.keyOf(context.actor);
    if (key.kind === 'tenant') throw new Forbidden();
    const { oneWorkspace } = this.options;
    if (oneWorkspace !== undefined) throw new Conflict(`${oneWorkspace}.`);
    const { id = randomUUID(), display_name, tenant_handle = null } = draft;
    const facts = { id, organization_id: context.actor.organizationId, display_name, tenant_handle };
    return answer(context, await this.establish(context, facts));
  }

  @Get('workspaces/current/usage')
  @Scope('read')
  @Describe({ summary: 'Get what the workspace has and may have of each kind' })
  @Answers({ 200: usage })
  async usage(@Context() { tenantId }: CommandContext) {
    const [things, used] = await Promise.all([this.quotas.usage(tenantId), this.stored.used(tenantId)]);
    return { ...things, stored_bytes: { used, limit: this.stored.limit } };
  }

  /** Creates a workspace, its handle reserved. @throws TenantExists */
  private async establish(context: CommandContext, facts: TenantFacts): Promise<Tenant> {
    const decide = createTenant(facts);
    const stream = streamName('tenant', facts.id);
    const metadata = { ...context.metadata, tenant: facts.id };
    if (facts.tenant_handle !== null) {
      decide((await load(this.store, tenantModel, stream)).state);
      await this.reserveHandle(facts.tenant_handle, stream, metadata);
    }
    const { state, version } = await handle(this.store, tenantModel, stream, decide, metadata);
    this.authenticator.learnTenant({ ...state!, version });
    return state!;
  }

  /** A handle that a removed workspace has left is free. @throws TenantExists */
  private async reserveHandle(name: string, stream: string, metadata: Metadata): Promise<void> {
    const isGone = async (owner: string) => (await load(this.store, tenantModel, owner)).state?.status === 'removed';
    const taken = () => new TenantExists(`A workspace with the handle ${name} already exists.`);
    await reserveName(this.store, nameStream('tenantHandle', '', name), stream, isGone, { metadata, taken });
  }

  private async list(context: CommandContext, { include_deleted = false }: Infer<typeof filters>) {
    const { kind } = await this.authenticator.keyOf(context.actor);
    const { tenantId, organizationId } = context.actor;
    const tenants =
      kind === 'tenant'
        ? await this.view.byIds([tenantId])
        : await this.view.list(kind === 'operator' ? undefined : organizationId, include_deleted);
    return tenants.map((tenant) => answer(context, tenant));
  }
}

function answer({ actor }: CommandContext, tenant: Tenant) {
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
