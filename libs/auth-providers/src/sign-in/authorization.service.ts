import { randomUUID } from 'node:crypto';
import { type Metadata, Workspaces } from '@fairlead/eventing';
import type { CommandContext } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import { randomPKCECodeVerifier } from 'openid-client';
import { type Authorization, AuthorizationStore, LIFETIME_MINUTES } from './authorization.store';
import { AuthorizationRefused } from './authorization.errors';
import { ProviderFailed } from '../oauth/provider.errors';
import { McpDiscovery } from '../provider/mcp-discovery.client';
import { OAuthClient } from '../oauth/oauth.client';
import { originOf, type Provider, redirectUri } from '../oauth/provider';
import { ProviderCommands } from '../provider/provider.commands';
import { isSameBrowser, signInCookie } from './sign-in-cookie';
import { grantToken } from '../oauth/token';
import { TokenCommands } from '../token/token.commands';
import { TokenService } from '../token/token.service';

/** Query parameters with which a provider sent the browser back. */
interface Returned {
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

const OTHER_BROWSER =
  'This sign-in was opened in another browser, or the browser keeps no cookies: open its address again here.';

/** Runs the sign-in at a provider, from its address to the stored token. */
@Injectable()
export class AuthorizationService {
  constructor(
    private readonly tokenCommands: TokenCommands,
    private readonly authorizations: AuthorizationStore,
    private readonly providers: ProviderCommands,
    private readonly client: OAuthClient,
    private readonly discovery: McpDiscovery,
    private readonly tokens: TokenService,
    private readonly workspaces: Workspaces,
  ) {}

  /** Begins an authorisation: the URL to open in a browser, and the id to wait for. */
  async begin(
    { actor }: CommandContext,
    origin: string,
    provider: Provider,
    asked: Asked,
  ): Promise<{ url: string; auth_id: string }> {
    const wanted = {
      ...asked,
      token_id: asked.token_id ?? randomUUID(),
      tenant_id: provider.tenant_id,
      provider: provider.id,
      redirect_uri: redirectUri(origin, provider.id),
      requested_by: actor.keyId,
    };
    const { id, state } = await this.authorizations.begin(wanted, randomPKCECodeVerifier());
    const start = new URL('/v2/auth/start', origin);
    start.searchParams.set('state', state);
    return { url: start.href, auth_id: id };
  }

  /** Where a browser that opened the address of a sign-in goes, and the cookie that it keeps. @throws AuthorizationRefused */
  async open(state: string | undefined): Promise<{ url: string; cookie: string }> {
    const authorization = state === undefined ? undefined : await this.authorizations.byState(state);
    if (authorization?.status !== 'pending' || authorization.expired) throw new AuthorizationRefused(STALE);
    const { tenant_id, provider: id, redirect_uri: redirectUri, scopes } = authorization;
    await this.workspaces.requireWorking(tenant_id);
    const provider = await this.providers.byId(tenant_id, id).catch(() => undefined);
    if (!provider) throw new AuthorizationRefused(STALE);
    const verifier = await this.authorizations.verifierOf(authorization);
    const url = await this.client.authorizationUrl(provider, scopes, { redirectUri, state: state!, verifier });
    const secure = redirectUri.startsWith('https:');
    return { url, cookie: signInCookie(state!, { secure, seconds: LIFETIME_MINUTES * 60 }) };
  }

  /**
   * Finishes the authorisation that a state stands for. A state works once and for the provider it was made for: in the
   * browser that opened it, at the address of that provider alone, or for a key of `tenantId` when that is given.
   * @throws AuthorizationRefused when it may not, or the provider or the person refused.
   * @throws ProviderFailed
   */
  async finish(
    context: CommandContext,
    ref: string,
    { state, ...returned }: Returned,
    { tenantId, cookie }: { readonly tenantId?: string; readonly cookie?: string },
  ) {
    const authorization = state === undefined ? undefined : await this.authorizations.byState(state);
    if (!authorization || (tenantId !== undefined && authorization.tenant_id !== tenantId)) {
      throw new AuthorizationRefused(STALE);
    }
    await this.workspaces.requireWorking(authorization.tenant_id);
    const provider = await this.providers.byId(authorization.tenant_id, authorization.provider).catch(() => undefined);
    if (!provider) throw new AuthorizationRefused(STALE);
    if (tenantId === undefined) {
      if (ref.toLowerCase() !== provider.id) throw new AuthorizationRefused(STALE);
      if (!isSameBrowser(cookie, state!)) throw new AuthorizationRefused(OTHER_BROWSER);
    } else if (![provider.provider_id, provider.id].includes(ref)) throw new AuthorizationRefused(STALE);
    if (!(await this.authorizations.use(authorization.id))) throw new AuthorizationRefused(STALE);
    try {
      // Key holders who took the return themselves may not have it all.
      if (tenantId === undefined || returned.iss !== undefined) checkIssuer(provider, returned.iss);
      const code = codeOf(provider, returned);
      await this.take(context, provider, authorization, { state: state!, code, iss: returned.iss });
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
    context: CommandContext,
    provider: Provider,
    authorization: Authorization,
    { state, ...returned }: { state: string; code: string; iss?: string },
  ): Promise<void> {
    const { tenant_id, user_id, agent_id, scopes, is_default, requested_by } = authorization;
    const verifier = await this.authorizations.verifierOf(authorization);
    const secret = await this.providers.secretOf(provider);
    const redirect = { redirectUri: authorization.redirect_uri, state, verifier };
    const plain = await this.client.exchange(provider, secret, returned, redirect);
    const { iss } = returned;
    const found = provider.issuer === null && iss !== undefined && (await this.discovery.issuerOf(provider, iss));
    if (found) await this.providers.learnIssuer(context, provider, found);
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
    const metadata: Metadata = { ...context.metadata, tenant: tenant_id, actor: requested_by };
    await this.tokenCommands.run({ metadata }, id, grantToken(grant, agent));
    await this.authorizations.complete(authorization.id, id);
  }

  /** A token that was removed while its new consent was under way does not come back. */
  private async usableId(id: string): Promise<string> {
    return (await this.tokenCommands.stateOf(id))?.removed ? randomUUID() : id;
  }
}

/** @throws AuthorizationRefused when another server answered than the provider whose metadata are known (RFC 9207). */
function checkIssuer({ provider_id, issuer, iss_required = false }: Provider, iss: string | undefined): void {
  if (issuer === null || iss === issuer || (iss === undefined && !iss_required)) return;
  throw new AuthorizationRefused(`Another server answered than OAuth provider '${provider_id}'.`);
}

function codeOf({ provider_id }: Provider, { code, error }: Returned): string {
  if (error !== undefined) {
    const told = ERROR_CODE.test(error) ? error : 'an error';
    throw new AuthorizationRefused(`OAuth provider '${provider_id}' answered ${told}.`);
  }
  if (code === undefined || code === '') throw new AuthorizationRefused('The provider sent no code.');
  return code;
}
