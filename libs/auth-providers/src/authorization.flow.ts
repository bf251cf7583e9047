import { randomUUID } from 'node:crypto';
import { EventStore, Followers, handle, load, type Metadata, streamName } from '@fairlead/eventing';
import { BadRequest, metadataOf, parseUrl } from '@fairlead/http';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { randomPKCECodeVerifier } from 'openid-client';
import { AuthProvidersOptions } from './auth-providers.options';
import { type Authorization, AuthorizationStore } from './authorization.store';
import { AuthorizationRefused, ProviderFailed } from './errors';
import { OAuthClient } from './oauth.client';
import { OAUTH_VIEW } from './oauth.view';
import { originOf, type Provider } from './provider';
import { ProviderCommands } from './provider.commands';
import { grantToken, tokenModel } from './token';
import { TokenRefresher } from './token.refresher';

/** What a browser brought back from a provider. */
export interface Returned {
  readonly state?: string;
  readonly code?: string;
  readonly error?: string;
  readonly iss?: string;
}

export interface Asked {
  readonly token_id?: string;
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly scopes: readonly string[];
  readonly is_default: boolean;
}

const ERROR_CODE = /^[a-z0-9_.-]{1,64}$/i;
const STALE = 'This sign-in is unknown, was finished before, or is older than ten minutes: start it again.';

/** Sends people to a provider and takes in what they come back with. */
@Injectable()
export class AuthorizationFlow {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly options: AuthProvidersOptions,
    private readonly authorizations: AuthorizationStore,
    private readonly providers: ProviderCommands,
    private readonly client: OAuthClient,
    private readonly tokens: TokenRefresher,
  ) {}

  /** Where a provider sends browsers back to. @throws BadRequest when neither a setting nor the request tells. */
  redirectUri(request: FastifyRequest, providerId: string): string {
    const base = this.options.publicUrl ?? `${request.protocol}://${request.host}`;
    if (!parseUrl(base)) throw new BadRequest('The header Host names no host: set PUBLIC_URL.');
    return new URL(`/v2/auth/callback/${encodeURIComponent(providerId)}`, base).href;
  }

  /** Begins an authorisation: the URL to open in a browser, and the id to wait for. */
  async begin(request: FastifyRequest, provider: Provider, asked: Asked): Promise<{ url: string; auth_id: string }> {
    const verifier = provider.uses_pkce ? randomPKCECodeVerifier() : undefined;
    const redirectUri = this.redirectUri(request, provider.provider_id);
    const wanted = {
      ...asked,
      token_id: asked.token_id ?? randomUUID(),
      tenant_id: provider.tenant_id,
      provider: provider.id,
      redirect_uri: redirectUri,
      requested_by: request.actor.keyId,
    };
    const { id, state } = await this.authorizations.begin(wanted, verifier);
    const url = await this.client.authorizationUrl(provider, asked.scopes, { redirectUri, state, verifier });
    return { url, auth_id: id };
  }

  /**
   * Finishes the authorisation that a state stands for; a state works once, for the provider it was made for, and for
   * `tenantId` alone when that is given.
   * @throws AuthorizationRefused when it may not, or the provider or the person refused.
   * @throws ProviderFailed
   */
  async finish(request: FastifyRequest, ref: string, { state, ...returned }: Returned, tenantId?: string) {
    const authorization = state === undefined ? undefined : await this.authorizations.byState(state);
    if (!authorization || (tenantId !== undefined && authorization.tenant_id !== tenantId)) {
      throw new AuthorizationRefused(STALE);
    }
    const provider = await this.providers.byId(authorization.tenant_id, authorization.provider).catch(() => undefined);
    if (!provider || ![provider.provider_id, provider.id].includes(ref)) throw new AuthorizationRefused(STALE);
    if (!(await this.authorizations.use(authorization.id))) throw new AuthorizationRefused(STALE);
    try {
      const code = codeOf(provider, returned);
      await this.take(request, provider, authorization, { state: state!, code, iss: returned.iss });
    } catch (error) {
      const told = error instanceof AuthorizationRefused || error instanceof ProviderFailed;
      await this.authorizations.fail(
        authorization.id,
        told ? error.message : 'It failed here, for a reason in the log.',
      );
      throw error;
    }
    return { auth_id: authorization.id, provider };
  }

  private async take(
    request: FastifyRequest,
    provider: Provider,
    authorization: Authorization,
    { state, ...returned }: { state: string; code: string; iss?: string },
  ): Promise<void> {
    const { tenant_id, user_id, agent_id, scopes, is_default, requested_by } = authorization;
    const verifier = await this.authorizations.verifierOf(authorization);
    const secret = await this.providers.secretOf(provider);
    const redirect = { redirectUri: authorization.redirect_uri, state, verifier };
    const plain = await this.client.exchange(provider, secret, returned, redirect);
    const id = await this.usableId(authorization.token_id);
    const grant = {
      ...(await this.tokens.seal(tenant_id, id, plain, scopes)),
      id,
      tenant_id,
      provider: provider.id,
      provider_id: provider.provider_id,
      user_id,
      requested_scopes: scopes,
      issued_by: originOf(provider.token_url),
      is_default,
    };
    const agent = agent_id === null ? undefined : { connection_id: randomUUID(), agent_id, created_by: requested_by };
    // The browser has no key: what happens is put down to the key that asked for it.
    const cause: Metadata = { ...metadataOf(request), tenant: tenant_id, actor: requested_by, causationId: undefined };
    const stream = streamName('oauthToken', id);
    const { position } = await handle(this.store, tokenModel, stream, grantToken(grant, agent), cause);
    await this.followers.passed(position, [OAUTH_VIEW]);
    await this.authorizations.complete(authorization.id, id);
  }

  /** A token that was removed while its new consent was under way does not come back. */
  private async usableId(id: string): Promise<string> {
    const { state } = await load(this.store, tokenModel, streamName('oauthToken', id));
    return state?.removed ? randomUUID() : id;
  }
}

function codeOf({ provider_id }: Provider, { code, error }: Returned): string {
  if (error !== undefined) {
    const told = ERROR_CODE.test(error) ? error : 'an error';
    throw new AuthorizationRefused(`OAuth provider '${provider_id}' answered ${told}.`);
  }
  if (code === undefined || code === '') throw new AuthorizationRefused('The provider sent no code.');
  return code;
}
