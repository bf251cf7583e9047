import type { Metadata } from '@fairlead/eventing';
import {
  EventStore,
  Followers,
  handle,
  type Handled,
  load,
  nameStream,
  release,
  reserveName,
  stoppedWorkspacesProjection,
  streamName,
  WorkspaceRemovals,
  Workspaces,
} from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { KnownTenants } from './known-tenants.service';
import {
  completeTenantRemoval,
  createTenant,
  ensureTenant,
  type Tenant,
  type TenantEvent,
  type TenantFacts,
  tenantModel,
} from './tenant';
import { TenantExists } from './tenant.errors';
import { tenantsProjection } from './tenant.projection';

type Decide = (state: Tenant | null) => readonly TenantEvent[];

/** Creates, suspends, resumes and removes workspaces. A change is known in this process at once. */
@Injectable()
export class TenantCommands {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly workspaces: Workspaces,
    private readonly known: KnownTenants,
    removals: WorkspaceRemovals,
  ) {
    removals.onFinished((id) => this.finish(id));
  }

  /** Creates a workspace, its handle reserved. @throws TenantExists */
  async create(metadata: Metadata, facts: TenantFacts): Promise<Tenant> {
    const { id, tenant_handle } = facts;
    const decide = createTenant(facts);
    if (tenant_handle !== null) {
      decide((await load(this.store, tenantModel, streamName('tenant', id))).state);
      await this.reserveHandle(tenant_handle, id, metadata);
    }
    return (await this.run(id, decide, metadata)).state!;
  }

  /** Creates a workspace unless it exists. @throws StreamDeleted */
  async ensure(facts: TenantFacts, metadata: Metadata): Promise<void> {
    await this.run(facts.id, ensureTenant(facts), metadata);
  }

  /** Changes the status of a workspace; the views show it afterwards. `changed` is false when it had the status already. */
  async change(metadata: Metadata, id: string, decide: Decide): Promise<{ tenant: Tenant; changed: boolean }> {
    const { state, position, events } = await this.run(id, decide, metadata);
    await this.shown(position);
    return { tenant: state!, changed: events.length > 0 };
  }

  /** The last step of a removal: the workspace's handle is free again. */
  private async finish(id: string): Promise<void> {
    const metadata = { tenant: id, actor: 'system:access' };
    const stream = streamName('tenant', id);
    const { state, position } = await handle(this.store, tenantModel, stream, completeTenantRemoval, metadata);
    if (state?.tenant_handle) {
      await release(this.store, nameStream('tenantHandle', '', state.tenant_handle), stream, metadata);
    }
    await this.shown(position);
  }

  /** A handle that a removed workspace has left is free. @throws TenantExists */
  private async reserveHandle(name: string, id: string, metadata: Metadata): Promise<void> {
    const isGone = async (owner: string) => (await load(this.store, tenantModel, owner)).state?.status === 'removed';
    const taken = () => new TenantExists(`A workspace with the handle ${name} already exists.`);
    const stream = nameStream('tenantHandle', '', name);
    await reserveName(this.store, stream, streamName('tenant', id), isGone, { metadata, taken });
  }

  private async run(id: string, decide: Decide, sent: Metadata): Promise<Handled<Tenant | null, TenantEvent>> {
    const metadata = { ...sent, tenant: id };
    const handled = await handle(this.store, tenantModel, streamName('tenant', id), decide, metadata);
    this.known.put({ ...handled.state!, version: handled.version });
    return handled;
  }

  private async shown(position: bigint): Promise<void> {
    await this.followers.passed(position, [tenantsProjection.name, stoppedWorkspacesProjection.name]);
    this.workspaces.forget();
  }
}
