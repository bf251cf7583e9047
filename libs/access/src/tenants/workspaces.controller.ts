import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import {
  EventStore,
  Followers,
  handle,
  nameStream,
  release,
  REMOVAL_PARTS,
  stoppedWorkspacesProjection,
  streamName,
  WorkspaceRemovals,
  Workspaces,
} from '@fairlead/eventing';
import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { type Infer, note, object, uuid } from '@fairlead/schema';
import { workspaceState } from '../access.answers.schema';
import { Authenticator } from '../authenticator.service';
import {
  completeTenantRemoval,
  requestTenantRemoval,
  resumeTenant,
  suspendTenant,
  type Tenant,
  tenantModel,
} from './tenant';
import { TenantNotFound } from './tenant.errors';
import { tenantsProjection, TenantView } from './tenant.projection';

const named = object({
  workspace_id: note(uuid(), 'The `id` of a workspace that the key opens; for the key of the operator, of any.'),
});

/** Suspends, resumes and removes workspaces, for the operator of the installation. */
@Area('Keys and workspaces')
@Controller('/api/v1/workspaces/:workspace_id')
export class WorkspacesController {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly workspaces: Workspaces,
    private readonly removals: WorkspaceRemovals,
    private readonly view: TenantView,
    private readonly authenticator: Authenticator,
  ) {
    removals.onFinished((id) => this.finish(id));
  }

  @Get()
  @Scope('read', { views: [tenantsProjection.name], acrossWorkspaces: true, organization: true })
  @Describe({
    summary: 'Get a workspace and whether it works',
    description: 'With a key that opens it; the key of the operator reads those that are suspended or removed too.',
  })
  @Answers({ 200: workspaceState })
  async show(@Context() context: CommandContext, @Path(named) { workspace_id: id }: Infer<typeof named>) {
    const [tenant] = await this.view.byIds([id]);
    const key = await this.authenticator.keyOf(context.actor);
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
  suspend(@Context() context: CommandContext, @Path(named) { workspace_id: id }: Infer<typeof named>) {
    return this.change(context, id, suspendTenant);
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
  resume(@Context() context: CommandContext, @Path(named) { workspace_id: id }: Infer<typeof named>) {
    return this.change(context, id, resumeTenant);
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
  remove(@Context() context: CommandContext, @Path(named) { workspace_id: id }: Infer<typeof named>) {
    return this.change(context, id, requestTenantRemoval);
  }

  private async change(
    context: CommandContext,
    id: string,
    decision: (id: string) => ReturnType<typeof suspendTenant>,
  ) {
    const metadata = { ...context.metadata, tenant: id };
    const stream = streamName('tenant', id);
    const handled = await handle(this.store, tenantModel, stream, decision(id), metadata);
    const { state, version, position, events } = handled;
    this.authenticator.learnTenant({ ...state!, version });
    await this.known(position);
    return this.answer(state!, events.length > 0);
  }

  /** The last step of a removal: the workspace's handle is free again. */
  private async finish(id: string): Promise<void> {
    const stream = streamName('tenant', id);
    const metadata = { tenant: id, actor: 'system:access' };
    const { state, position } = await handle(this.store, tenantModel, stream, completeTenantRemoval, metadata);
    if (state?.tenant_handle) {
      await release(this.store, nameStream('tenantHandle', '', state.tenant_handle), stream, metadata);
    }
    await this.known(position);
  }

  private async known(position: bigint): Promise<void> {
    await this.followers.passed(position, [tenantsProjection.name, stoppedWorkspacesProjection.name]);
    this.workspaces.forget();
  }

  /** `changed`: the workspace has its status since a moment ago. */
  private async answer(tenant: Tenant, changed = false) {
    const { id, organization_id, created_at, display_name, tenant_handle, status, status_since } = tenant;
    const left = changed ? REMOVAL_PARTS : await this.removals.left(id);
    const remaining = status === 'removing' ? left : [];
    return { id, organization_id, created_at, display_name, tenant_handle, status, status_since, remaining };
  }
}
