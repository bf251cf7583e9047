import { randomUUID } from 'node:crypto';
import { Answers, Area, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { Quotas, StoredBytes } from '@fairlead/eventing';
import { Conflict, Forbidden, type Infer, list } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { KnownKeys } from '../keys/known-keys.service';
import { AccessOptions } from './access.options';
import { TenantCommands } from './tenant.commands';
import { tenantsProjection } from './tenant.projection';
import { TenantQueries, tenantRecord } from './tenant.queries';
import { createRequest, tenantsQuery, usage, workspace } from './tenant.schema';

/** The tenants a key may use, under both names clients have for them. */
@Area('Keys and workspaces')
@Controller('/api/v1')
export class TenantsController {
  constructor(
    private readonly commands: TenantCommands,
    private readonly queries: TenantQueries,
    private readonly keys: KnownKeys,
    private readonly quotas: Quotas,
    private readonly stored: StoredBytes,
    private readonly options: AccessOptions,
  ) {}

  @Get('workspaces')
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({ summary: 'List the workspaces that the key opens' })
  @Answers({ 200: list(workspace) })
  async workspaces(@Context() context: CommandContext, @Query(tenantsQuery) query: Infer<typeof tenantsQuery>) {
    return this.list(context, query);
  }

  @Get('tenants')
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({ summary: 'List the workspaces that the key opens, under their other name' })
  @Answers({ 200: list(workspace) })
  async tenants(@Context() context: CommandContext, @Query(tenantsQuery) query: Infer<typeof tenantsQuery>) {
    return this.list(context, query);
  }

  @Post('workspaces')
  @HttpCode(200)
  @Scope('admin', { organization: true })
  @Describe({ summary: 'Create a workspace', description: 'Needs a key of the organisation.', takes: ['x-reason'] })
  @Answers({ 200: workspace, 409: 'The id or the handle is in use, or this installation has one workspace only.' })
  async create(@Context() context: CommandContext, @Body(createRequest) draft: Infer<typeof createRequest>) {
    const key = await this.keys.keyOf(context.actor);
    if (key.kind === 'tenant') throw new Forbidden();
    const { oneWorkspace } = this.options;
    if (oneWorkspace !== undefined) throw new Conflict(`${oneWorkspace}.`);
    const { id = randomUUID(), display_name, tenant_handle = null } = draft;
    const facts = { id, organization_id: context.actor.organizationId, display_name, tenant_handle };
    return tenantRecord(context.actor, await this.commands.create(context.metadata, facts));
  }

  @Get('workspaces/current/usage')
  @Scope('read')
  @Describe({ summary: 'Get what the workspace has and may have of each kind' })
  @Answers({ 200: usage })
  async usage(@Context() { tenantId }: CommandContext) {
    const [things, used] = await Promise.all([this.quotas.usage(tenantId), this.stored.used(tenantId)]);
    return { ...things, stored_bytes: { used, limit: this.stored.limit } };
  }

  private async list({ actor }: CommandContext, { include_deleted }: Infer<typeof tenantsQuery>) {
    const key = await this.keys.keyOf(actor);
    return (await this.queries.openTo(key, actor.tenantId, include_deleted)).map((tenant) =>
      tenantRecord(actor, tenant),
    );
  }
}
