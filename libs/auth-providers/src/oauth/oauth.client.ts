import { guardedFetch, OutboundFailure } from '@fairlead/outbound';
import { Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { AuthProvidersOptions } from './auth-providers.options';
import { ProviderFailed } from './provider.errors';
import type { Provider } from './provider';

/** The answer of a token endpoint, not encrypted. */
export interface PlainGrant {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** Time of the request. ISO 8601. */
  readonly obtained_at: string;
  readonly expires_at: string | null;
  /** Absent when the answer does not say. */
  readonly scopes?: readonly string[];
}

/** The redirect URI of a sign-in, and its PKCE verifier. */
interface Redirect {
  readonly redirectUri: string;
  readonly state: string;
  /** The PKCE code verifier: its S256 challenge is always sent, also to providers that are not known to use it (RFC 9700). */
  readonly verifier?: string;
}

const TIMEOUT_SECONDS = 15;
const CODE = /^[a-z0-9_.-]{1,64}$/i;

/** OAuth 2.0 with a provider, as its record describes it. Its errors repeat nothing that the provider sent but its error code. */
@Injectable()
export class OAuthClient {
  constructor(private readonly options: AuthProvidersOptions) {}

  /** Returns the address at the provider to which the browser is sent. Parameters in `auth_url` are kept. */
  async authorizationUrl(provider: Provider, scopes: readonly string[], redirect: Redirect): Promise<string> {
    const { state, redirectUri, verifier } = redirect;
    const parameters = {
      redirect_uri: redirectUri,
      state,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(provider.resource !== null && { resource: provider.resource }),
      ...(verifier !== undefined && {
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
    };
    return openid.buildAuthorizationUrl(this.configuration(provider), parameters).href;
  }

  /** Exchanges an authorisation code for tokens. @throws ProviderFailed */
  async exchange(
    provider: Provider,
    secret: string | undefined,
    returned: { readonly code: string; readonly iss?: string },
    { redirectUri, state, verifier }: Redirect,
  ): Promise<PlainGrant> {
    const url = new URL(redirectUri);
    url.searchParams.set('code', returned.code);
    url.searchParams.set('state', state);
    // There is something to compare it with only when the issuer is known.
    if (returned.iss !== undefined && provider.issuer !== null) url.searchParams.set('iss', returned.iss);
    const checks = { expectedState: state, ...(verifier !== undefined && { pkceCodeVerifier: verifier }) };
    const configuration = this.configuration(provider, secret);
    return this.grant(provider, openid.authorizationCodeGrant(configuration, url, checks, resourceOf(provider)));
  }

  /**
   * Exchanges a refresh token for new tokens.
   * @throws ProviderFailed, with the code `invalid_grant` when the provider no longer accepts it
   */
  async refresh(provider: Provider, secret: string | undefined, refreshToken: string): Promise<PlainGrant> {
    const configuration = this.configuration(provider, secret);
    return this.grant(provider, openid.refreshTokenGrant(configuration, refreshToken, resourceOf(provider)));
  }

  private async grant(provider: Provider, answer: Promise<openid.TokenEndpointResponse>): Promise<PlainGrant> {
    const asked = Date.now();
    const { access_token, refresh_token, expires_in, scope } = await answer.catch((error: unknown) => {
      throw providerFailed(`OAuth provider '${provider.provider_id}'`, error);
    });
    return {
      access_token,
      ...(refresh_token !== undefined && { refresh_token }),
      obtained_at: new Date(asked).toISOString(),
      expires_at: expires_in === undefined ? null : new Date(asked + expires_in * 1000).toISOString(),
      ...(scope !== undefined && { scopes: scope.split(/[\s,]+/).filter((one) => one !== '') }),
    };
  }

  private configuration(provider: Provider, secret?: string): openid.Configuration {
    const { issuer, auth_url, token_url, client_id } = provider;
    const server = {
      issuer: issuer ?? new URL(token_url).origin,
      authorization_endpoint: auth_url,
      token_endpoint: token_url,
    };
    const configuration = new openid.Configuration(server, client_id, undefined, clientAuth(provider, secret));
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[openid.customFetch] = async (url, init) =>
      usable(await guardedFetch(url, init, this.options.outbound, provider.tenant_id));
    // The guard decides which hosts may be called without TLS.
    openid.allowInsecureRequests(configuration);
    return configuration;
  }
}

/** Returns the failure that an error of a call to `server` means. */
export function providerFailed(server: string, error: unknown): ProviderFailed {
  if (error instanceof openid.ResponseBodyError) {
    const code = CODE.test(error.error) ? error.error : 'an error';
    return new ProviderFailed('refused', `${server} answered ${code}.`, code);
  }
  if (error instanceof openid.WWWAuthenticateChallengeError) {
    return new ProviderFailed('refused', `${server} answered invalid_client.`, 'invalid_client');
  }
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const slow = cause instanceof OutboundFailure ? cause.fault === 'timeout' : cause.name === 'TimeoutError';
    if (slow) return new ProviderFailed('slow', `${server} took too long to answer.`);
    if (cause instanceof OutboundFailure && cause.fault === 'refused') {
      return new ProviderFailed('failed', `${server} names a host that may not be called.`);
    }
  }
  return new ProviderFailed('failed', `${server} gave no usable answer.`);
}

function clientAuth({ token_endpoint_auth_method }: Provider, secret: string | undefined): openid.ClientAuth {
  if (secret === undefined || token_endpoint_auth_method === 'none') return openid.None();
  return token_endpoint_auth_method === 'client_secret_basic'
    ? openid.ClientSecretBasic(secret)
    : openid.ClientSecretPost(secret);
}

function resourceOf({ resource }: Provider): Record<string, string> {
  return resource === null ? {} : { resource };
}

/**
 * A token endpoint's answer as the standard has it: an error that came as a success is an error. What nothing here
 * relies on is left out: an ID token, which could not be checked without the issuer's keys, and token types of a
 * provider's own, which are sent as bearer tokens all the same.
 */
async function usable(answer: Response): Promise<Response> {
  if (answer.status !== 200) return answer;
  const text = await answer.text();
  const { headers } = answer;
  try {
    const members = JSON.parse(text) as Record<string, unknown>;
    delete members.id_token;
    const failed = typeof members.error === 'string' && members.access_token === undefined;
    const body = JSON.stringify({ ...members, token_type: 'Bearer' });
    return new Response(body, { status: failed ? 400 : 200, headers });
  } catch {
    return new Response(text, { status: 200, headers });
  }
}
