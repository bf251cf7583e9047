import { checkTarget, guardedFetch } from '@fairlead/outbound';
import { parseUrl } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { AuthProvidersOptions } from '../auth-providers.options';
import { InvalidProvider, ProviderFailed } from './provider.errors';
import { challengedMetadata, preferredMethod, readMetadata, type ResourceMetadata, wellKnownMetadata } from './mcp';
import { providerFailed } from '../oauth.client';
import { AUTH_METHODS, originOf, type ProviderFacts } from './provider';

type Discovered = Pick<
  ProviderFacts,
  | 'client_id'
  | 'auth_url'
  | 'token_url'
  | 'uses_pkce'
  | 'token_endpoint_auth_method'
  | 'resource'
  | 'issuer'
  | 'iss_required'
> & { readonly client_secret?: string };

const TIMEOUT_SECONDS = 15;

/**
 * Finds out who gives tokens for an MCP server and registers a client there: metadata of the protected resource
 * (RFC 9728), of its authorisation server (RFC 8414, or OpenID Connect Discovery), dynamic registration (RFC 7591).
 */
@Injectable()
export class McpDiscovery {
  constructor(private readonly options: AuthProvidersOptions) {}

  /**
   * @param redirectUri where the authorisation server may send browsers.
   * @throws OutboundRefused when a URL on the way may not be called.
   * @throws InvalidProvider when the server offers no discovery or no registration.
   * @throws ProviderFailed
   */
  async register(
    workspace: string,
    mcpServerUrl: string,
    clientName: string,
    redirectUri: string,
  ): Promise<Discovered> {
    const { outbound } = this.options;
    const server = await checkTarget(mcpServerUrl, outbound, workspace, 'mcp_server_url');
    const metadata = await this.resourceMetadata(workspace, server);
    const issuer = await checkTarget(
      metadata?.authorizationServers[0] ?? server.origin,
      outbound,
      workspace,
      'The authorisation server of mcp_server_url',
    );
    const found = await this.authorizationServer(workspace, issuer);
    const { authorization_endpoint, token_endpoint } = found.server;
    if (authorization_endpoint === undefined || token_endpoint === undefined) {
      throw new InvalidProvider('mcp_server_url: its authorisation server names no authorisation or token endpoint.');
    }
    await checkTarget(authorization_endpoint, outbound, workspace, 'The authorisation endpoint');
    await checkTarget(token_endpoint, outbound, workspace, 'The token endpoint');
    const client = await this.registerClient(workspace, issuer, found, clientName, redirectUri, metadata?.scopes);
    return {
      ...client,
      auth_url: authorization_endpoint,
      token_url: token_endpoint,
      uses_pkce: true,
      resource: metadata?.resource ?? server.href,
      issuer: found.server.issuer,
      iss_required: found.server.authorization_response_iss_parameter_supported === true,
    };
  }

  /**
   * What the metadata of `issuer` says, when they are those of a provider: on the host where people sign in, and with its
   * token endpoint. undefined otherwise, and when there are none.
   */
  async issuerOf(provider: Pick<ProviderFacts, 'tenant_id' | 'auth_url' | 'token_url'>, issuer: string) {
    const url = parseUrl(issuer);
    if (url?.origin !== originOf(provider.auth_url)) return undefined;
    const found = await this.authorizationServer(provider.tenant_id, url).catch(() => undefined);
    if (found?.server.issuer !== issuer || found.server.token_endpoint !== provider.token_url) return undefined;
    return { issuer, iss_required: found.server.authorization_response_iss_parameter_supported === true };
  }

  /** The first usable document, in the order of the standard; undefined when the server publishes none. */
  private async resourceMetadata(workspace: string, server: URL): Promise<ResourceMetadata | undefined> {
    const asked = await this.fetch(workspace, server, { headers: { accept: 'application/json, text/event-stream' } });
    await asked.body?.cancel();
    const named = challengedMetadata(asked.headers.get('www-authenticate')) ?? '';
    for (const url of [...(parseUrl(named) ? [named] : []), ...wellKnownMetadata(server)]) {
      const answer = await this.fetch(workspace, new URL(url), { headers: { accept: 'application/json' } });
      const document: unknown = answer.status === 200 ? await answer.json().catch(() => undefined) : undefined;
      if (answer.status !== 200) await answer.body?.cancel();
      const metadata = readMetadata(document, server);
      if (metadata) return metadata;
    }
    return undefined;
  }

  private async authorizationServer(workspace: string, issuer: URL) {
    let failure: ProviderFailed | undefined;
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      try {
        const configuration = await openid.discovery(
          issuer,
          'discovery',
          undefined,
          openid.None(),
          this.how(workspace, algorithm),
        );
        return { algorithm, server: configuration.serverMetadata() };
      } catch (error) {
        failure = providerFailed('The authorisation server', error);
        if (failure.fault === 'slow') throw failure;
      }
    }
    throw new InvalidProvider('mcp_server_url: no metadata of an authorisation server was found.');
  }

  private async registerClient(
    workspace: string,
    issuer: URL,
    { algorithm, server }: Awaited<ReturnType<McpDiscovery['authorizationServer']>>,
    clientName: string,
    redirectUri: string,
    scopes: readonly string[] = [],
  ) {
    const method = preferredMethod(server.token_endpoint_auth_methods_supported);
    if (server.registration_endpoint === undefined || method === undefined) {
      throw new InvalidProvider(
        'mcp_server_url: its authorisation server offers no dynamic client registration that can be used here.',
      );
    }
    const wanted = {
      client_name: clientName,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: method,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    };
    try {
      const registered = await openid.dynamicClientRegistration(
        issuer,
        wanted,
        openid.None(),
        this.how(workspace, algorithm),
      );
      const { client_id, client_secret, token_endpoint_auth_method } = registered.clientMetadata();
      const chosen = AUTH_METHODS.find((known) => known === (token_endpoint_auth_method ?? method));
      if (chosen === undefined) throw new Error('The client was registered with a method that is not known here.');
      const secret = typeof client_secret === 'string' && client_secret !== '' && chosen !== 'none';
      return { client_id, token_endpoint_auth_method: chosen, ...(secret && { client_secret }) };
    } catch (error) {
      throw providerFailed('The authorisation server', error);
    }
  }

  private how(workspace: string, algorithm: 'oauth2' | 'oidc'): openid.DynamicClientRegistrationRequestOptions {
    return {
      algorithm,
      timeout: TIMEOUT_SECONDS,
      // The guard decides which hosts may be called without TLS.
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: (url, init) => guardedFetch(url, init, this.options.outbound, workspace),
    };
  }

  private async fetch(workspace: string, url: URL, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
    try {
      return await guardedFetch(url, { ...init, signal }, this.options.outbound, workspace);
    } catch (error) {
      throw providerFailed('The MCP server', error);
    }
  }
}
