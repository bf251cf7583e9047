import {
  AggregateCommands,
  type Caller,
  type Changed,
  EventStore,
  type Found,
  holder,
  idOf,
  nameStream,
  Quotas,
  serviceCaller,
  Vault,
} from '@fairlead/eventing';
import type { CommandContext } from '@fairlead/api';
import { canonicalUuid } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { ProviderIdTaken, ProviderNotFound } from '../oauth/provider.errors';
import {
  addProvider,
  changeProvider,
  type ClientSecret,
  learnIssuer,
  type Provider,
  providerAggregate,
  type ProviderChange,
  type ProviderEvent,
  type ProviderFacts,
  removeProvider,
} from '../oauth/provider';

const CLIENT_SECRET = 'client_secret';

type NewProvider = Omit<ProviderFacts, 'tenant_id' | 'organization_id' | 'client_secret'> & {
  /** In plain text. */
  readonly client_secret?: string;
};
type PlainChange = Omit<ProviderChange, 'client_secret'> & { readonly client_secret?: string };

interface VersionedProvider {
  readonly provider: Provider;
  readonly version: number;
}

/** Finds and changes the providers of a tenant. */
@Injectable()
export class ProviderCommands {
  private readonly providers: AggregateCommands<Provider, ProviderEvent>;

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly quotas: Quotas,
  ) {
    this.providers = new AggregateCommands(store, providerAggregate);
  }

  /** @param ref the provider's provider_id or id. @throws ProviderNotFound */
  async find(tenantId: string, ref: string): Promise<VersionedProvider> {
    const held = await holder(this.store, nameOf(tenantId, ref));
    const ids = held === undefined ? [canonicalUuid(ref)] : [idOf(held), canonicalUuid(ref)];
    for (const id of ids) {
      const found = id === undefined ? undefined : await this.providers.find(tenantId, id).catch(unlessMissing);
      if (found) return versioned(found);
    }
    throw new ProviderNotFound(ref);
  }

  /** @throws ProviderIdTaken when the tenant has another provider of this provider_id than `own`. */
  async checkFree(tenantId: string, providerId: string, own: string): Promise<void> {
    await this.providers.checkFree(nameOf(tenantId, providerId), () => new ProviderIdTaken(providerId), own);
  }

  /** @throws ProviderIdTaken when the tenant has a provider of this provider_id. */
  async add(context: CommandContext, { client_secret, ...wanted }: NewProvider): Promise<VersionedProvider> {
    const { tenantId, organizationId } = context.actor;
    const { id, provider_id } = wanted;
    await this.checkFree(tenantId, provider_id, id);
    const create = async () => {
      const taken = () => new ProviderIdTaken(provider_id);
      await this.providers.reserve(nameOf(tenantId, provider_id), id, context, taken);
      const sealed = client_secret === undefined ? null : await this.seal(tenantId, id, client_secret);
      const facts = { ...wanted, tenant_id: tenantId, organization_id: organizationId, client_secret: sealed };
      return this.providers.run(context, id, addProvider(facts));
    };
    return versioned(await this.quotas.within('oauth_providers', tenantId, id, create));
  }

  /** @throws ProviderNotFound, InvalidProvider, VersionMismatch */
  async change(caller: Caller, ref: string, { client_secret, ...wanted }: PlainChange): Promise<VersionedProvider> {
    const { tenantId } = caller;
    const { id } = (await this.find(tenantId, ref)).provider;
    const sealed = client_secret === undefined ? undefined : await this.seal(tenantId, id, client_secret);
    const decide = changeProvider(sealed ? { ...wanted, client_secret: sealed } : wanted);
    return versioned(await this.providers.change(caller, id, decide));
  }

  /** Records the issuer in the metadata of a provider. */
  async learnIssuer(
    { metadata }: Caller,
    { tenant_id, id }: Provider,
    found: { readonly issuer: string; readonly iss_required: boolean },
  ): Promise<void> {
    const caller = serviceCaller({ ...metadata, tenant: tenant_id });
    await this.providers.change(caller, id, learnIssuer(found));
  }

  /** Removes a provider and all its tokens for good, and frees its provider_id. @throws ProviderNotFound, VersionMismatch */
  async remove(caller: Caller, ref: string): Promise<Changed<Provider, ProviderEvent>> {
    const { id, provider_id } = (await this.find(caller.tenantId, ref)).provider;
    const removed = await this.providers.change(caller, id, removeProvider);
    await this.providers.release(nameOf(caller.tenantId, provider_id), id, caller);
    await this.quotas.giveBack('oauth_providers', id);
    return removed;
  }

  /** A provider by the id of its stream. @throws ProviderNotFound when it has been removed. */
  async byId(tenantId: string, id: string): Promise<Provider> {
    return (await this.providers.find(tenantId, id)).state;
  }

  /** Returns the client secret of a provider in plain text; undefined when it has none. */
  async secretOf({ tenant_id, id, client_secret }: Provider): Promise<string | undefined> {
    return client_secret ? this.vault.open(tenant_id, id, CLIENT_SECRET, client_secret.sealed) : undefined;
  }

  private async seal(tenantId: string, id: string, plain: string): Promise<ClientSecret> {
    const digest = await this.vault.digest(id, plain);
    return { sealed: await this.vault.seal(tenantId, id, CLIENT_SECRET, plain), digest };
  }
}

function versioned({ state, version }: Found<Provider>): VersionedProvider {
  return { provider: state, version };
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ProviderNotFound)) throw error;
}

function nameOf(tenantId: string, providerId: string): string {
  return nameStream('oauthProviderId', tenantId, providerId);
}
