import {
  EventStore,
  handle,
  type Handled,
  holder,
  idOf,
  load,
  nameStream,
  NameTaken,
  Quotas,
  release,
  reserve,
  streamName,
  Vault,
} from '@fairlead/eventing';
import { ifMatch, metadataOf } from '@fairlead/api';
import { canonicalUuid } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ProviderIdTaken, ProviderNotFound } from './errors';
import {
  addProvider,
  changeProvider,
  type ClientSecret,
  learnIssuer,
  ownedProvider,
  type Provider,
  type ProviderChange,
  type ProviderEvent,
  type ProviderFacts,
  providerModel,
  type ProviderState,
  removeProvider,
} from './provider';

const CLIENT_SECRET = 'client_secret';

export type NewProvider = Omit<ProviderFacts, 'tenant_id' | 'organization_id' | 'client_secret'> & {
  /** In plain text. */
  readonly client_secret?: string;
};
export type PlainChange = Omit<ProviderChange, 'client_secret'> & { readonly client_secret?: string };

export interface VersionedProvider {
  readonly provider: Provider;
  readonly version: number;
}

/** Finds and changes the providers of a request's tenant; lists show a change when it has been answered. */
@Injectable()
export class ProviderCommands {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly quotas: Quotas,
  ) {}

  /** @param ref the provider's provider_id or id. @throws ProviderNotFound */
  async find(tenantId: string, ref: string): Promise<VersionedProvider> {
    const held = await holder(this.store, nameOf(tenantId, ref));
    const ids = held === undefined ? [canonicalUuid(ref)] : [idOf(held), canonicalUuid(ref)];
    for (const id of ids) {
      if (id === undefined) continue;
      const { state, version } = await load(this.store, providerModel, streamName('oauthProvider', id));
      if (state && !state.removed && state.tenant_id === tenantId) return { provider: state, version };
    }
    throw new ProviderNotFound(ref);
  }

  /** @throws ProviderIdTaken when the tenant has a provider of this provider_id. */
  async checkFree(tenantId: string, providerId: string): Promise<void> {
    const held = await holder(this.store, nameOf(tenantId, providerId));
    if (held === undefined) return;
    const { state } = await load(this.store, providerModel, held);
    if (state && !state.removed) throw new ProviderIdTaken(providerId);
  }

  /** @throws ProviderIdTaken when the tenant has a provider of this provider_id. */
  async add(request: FastifyRequest, { client_secret, ...wanted }: NewProvider): Promise<VersionedProvider> {
    const { tenantId, organizationId } = request.actor;
    const metadata = metadataOf(request);
    const stream = streamName('oauthProvider', wanted.id);
    const name = nameOf(tenantId, wanted.provider_id);
    await this.checkFree(tenantId, wanted.provider_id);
    const isGone = async (owner: string) => (await load(this.store, providerModel, owner)).state?.removed === true;
    const create = async () => {
      await reserve(this.store, name, stream, metadata, isGone).catch((error: unknown) => {
        throw error instanceof NameTaken ? new ProviderIdTaken(wanted.provider_id) : error;
      });
      const sealed = client_secret === undefined ? null : await this.seal(tenantId, wanted.id, client_secret);
      const facts = { ...wanted, tenant_id: tenantId, organization_id: organizationId, client_secret: sealed };
      return handle(this.store, providerModel, stream, addProvider(facts), metadata);
    };
    return changed(await this.quotas.within('oauth_providers', tenantId, wanted.id, create));
  }

  /** @throws ProviderNotFound, InvalidProvider, VersionMismatch */
  async change(
    request: FastifyRequest,
    ref: string,
    { client_secret, ...wanted }: PlainChange,
  ): Promise<VersionedProvider> {
    const { tenantId } = request.actor;
    const { id } = (await this.find(tenantId, ref)).provider;
    const sealed = client_secret === undefined ? undefined : await this.seal(tenantId, id, client_secret);
    const decide = changeProvider(tenantId, ref, sealed ? { ...wanted, client_secret: sealed } : wanted);
    const stream = streamName('oauthProvider', id);
    return changed(await handle(this.store, providerModel, stream, decide, metadataOf(request), ifMatch(request)));
  }

  /** Notes the issuer that was found for a provider. */
  async learnIssuer(
    request: FastifyRequest,
    { tenant_id, id }: Provider,
    found: { readonly issuer: string; readonly iss_required: boolean },
  ): Promise<void> {
    const cause = { ...metadataOf(request), tenant: tenant_id, causationId: undefined };
    await handle(this.store, providerModel, streamName('oauthProvider', id), learnIssuer(tenant_id, found), cause);
  }

  /** Removes a provider and all its tokens for good, and frees its provider_id. @throws ProviderNotFound, VersionMismatch */
  async remove(request: FastifyRequest, ref: string): Promise<void> {
    const { tenantId } = request.actor;
    const metadata = metadataOf(request);
    const { provider } = await this.find(tenantId, ref);
    const stream = streamName('oauthProvider', provider.id);
    const decide = removeProvider(tenantId, ref);
    await handle(this.store, providerModel, stream, decide, metadata, ifMatch(request));
    await release(this.store, nameOf(tenantId, provider.provider_id), stream, metadata);
    await this.quotas.giveBack('oauth_providers', provider.id);
  }

  /** A provider by the id of its stream. @throws ProviderNotFound when it has been removed. */
  async byId(tenantId: string, id: string): Promise<Provider> {
    const { state } = await load(this.store, providerModel, streamName('oauthProvider', id));
    return ownedProvider(state, tenantId, id);
  }

  /** A provider's client secret in plain text, if it has one. */
  async secretOf({ tenant_id, id, client_secret }: Provider): Promise<string | undefined> {
    return client_secret ? this.vault.open(tenant_id, id, CLIENT_SECRET, client_secret.sealed) : undefined;
  }

  private async seal(tenantId: string, id: string, plain: string): Promise<ClientSecret> {
    const digest = await this.vault.digest(id, plain);
    return { sealed: await this.vault.seal(tenantId, id, CLIENT_SECRET, plain), digest };
  }
}

function changed({ state, version }: Handled<ProviderState, ProviderEvent>): VersionedProvider {
  return { provider: state!, version };
}

function nameOf(tenantId: string, providerId: string): string {
  return nameStream('oauthProviderId', tenantId, providerId);
}
