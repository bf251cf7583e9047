import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { REMOVAL_PARTS, WorkspaceRemovals } from '@fairlead/eventing';
import type { Infer } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { KnownKeys } from '../keys/known-keys.service';
import { requestTenantRemoval, resumeTenant, suspendTenant, type Tenant } from './tenant';
import { TenantCommands } from './tenant.commands';
import { TenantNotFound } from './tenant.errors';
import { tenantsProjection } from './tenant.projection';
import { TenantQueries } from './tenant.queries';
import { workspacePath, workspaceState } from './tenant.schema';

/** Suspends, resumes and removes workspaces, for the operator of the installation. */
@Area('Keys and workspaces')
@Controller('/api/v1/workspaces/:workspace_id')
export class WorkspacesController {
  constructor(
    private readonly commands: TenantCommands,
    private readonly queries: TenantQueries,
    private readonly keys: KnownKeys,
    private readonly removals: WorkspaceRemovals,
  ) {}

  @Get()
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({
    summary: 'Get a workspace and whether it works',
    description: 'With a key that opens it; the key of the operator reads those that are suspended or removed too.',
  })
  @Answers({ 200: workspaceState })
  async show(
    @Context() context: CommandContext,
    @Path(workspacePath) { workspace_id: id }: Infer<typeof workspacePath>,
  ) {
    const [tenant] = await this.queries.byIds([id]);
    const key = await this.keys.keyOf(context.actor);
    const opens =
      key.kind === 'operator' ||
      (key.kind === 'tenant' ? key.tenant_id === id : tenant?.organization_id === key.organization_id);
    if (!tenant || !opens) throw new TenantNotFound(id);
    return this.answer(tenant);
  }

  @Post('suspend')
  @HttpCode(200)
  @Scope('admin', { operator: true, organization: true })
  @Describe({
    summary: 'Suspend a workspace',
    description:
      'With the key of the operator only. Every key of the workspace is answered 403, its rollouts wait, and nothing is sent for it, until it is resumed.',
    takes: ['x-reason'],
  })
  @Answers({ 200: workspaceState, 409: 'It is the workspace of the operator, or it is being removed.' })
  suspend(@Context() context: CommandContext, @Path(workspacePath) { workspace_id: id }: Infer<typeof workspacePath>) {
    return this.change(context, id, suspendTenant(id));
  }

  @Post('resume')
  @HttpCode(200)
  @Scope('admin', { operator: true, organization: true })
  @Describe({
    summary: 'Resume a suspended workspace',
    description: 'With the key of the operator only.',
    takes: ['x-reason'],
  })
  @Answers({ 200: workspaceState, 409: 'It is being removed.' })
  resume(@Context() context: CommandContext, @Path(workspacePath) { workspace_id: id }: Infer<typeof workspacePath>) {
    return this.change(context, id, resumeTenant(id));
  }

  @Delete()
  @HttpCode(202)
  @Scope('admin', { operator: true, organization: true })
  @Describe({
    summary: 'Remove a workspace with everything it has',
    description:
      'With the key of the operator only. It goes on after the answer, also after a restart: `status` is `removing` until everything is gone. It cannot be undone.',
    takes: ['x-reason'],
  })
  @Answers({ 202: workspaceState, 409: 'It is the workspace of the operator.' })
  remove(@Context() context: CommandContext, @Path(workspacePath) { workspace_id: id }: Infer<typeof workspacePath>) {
    return this.change(context, id, requestTenantRemoval(id));
  }

  private async change({ metadata }: CommandContext, id: string, decide: ReturnType<typeof suspendTenant>) {
    const { tenant, changed } = await this.commands.change(metadata, id, decide);
    return this.answer(tenant, changed);
  }

  /** `changed`: the workspace has its status since a moment ago. */
  private async answer(tenant: Tenant, changed = false) {
    const { id, organization_id, created_at, display_name, tenant_handle, status, status_since } = tenant;
    const left = changed ? REMOVAL_PARTS : await this.removals.left(id);
    const remaining = status === 'removing' ? left : [];
    return { id, organization_id, created_at, display_name, tenant_handle, status, status_since, remaining };
  }
}
