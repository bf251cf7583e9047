import { checkTarget } from '@fairlead/outbound';
import { parseUrl, TimeLimit } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import * as openid from 'openid-client';
import { AuthProvidersOptions } from '../oauth/auth-providers.options';
import { InvalidProvider, ProviderFailed } from '../oauth/provider.errors';
import { MetadataCalls } from './metadata-calls.client';
import { challengedMetadata, preferredMethod, readMetadata, type ResourceMetadata, wellKnownMetadata } from './mcp';
import { providerFailed } from '../oauth/oauth.client';
import { AUTH_METHODS, originOf, type ProviderFacts } from '../oauth/provider';

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
    const calls = new MetadataCalls(outbound, workspace);
    const metadata = await this.resourceMetadata(calls, server);
    const issuer = await checkTarget(
      metadata?.authorizationServers[0] ?? server.origin,
      outbound,
      workspace,
      'The authorisation server of mcp_server_url',
    );
    const found = await this.authorizationServer(calls, issuer);
    const { authorization_endpoint, token_endpoint } = found.server;
    if (authorization_endpoint === undefined || token_endpoint === undefined) {
      throw new InvalidProvider('mcp_server_url: its authorisation server names no authorisation or token endpoint.');
    }
    await checkTarget(authorization_endpoint, outbound, workspace, 'The authorisation endpoint');
    await checkTarget(token_endpoint, outbound, workspace, 'The token endpoint');
    const client = await this.registerClient(calls, issuer, found, clientName, redirectUri, metadata?.scopes);
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
   * Reads the metadata of `issuer` when they belong to the provider: on the host where people sign in, and with its
   * token endpoint. Returns undefined when they do not, and when there are none.
   */
  async issuerOf(provider: Pick<ProviderFacts, 'tenant_id' | 'auth_url' | 'token_url'>, issuer: string) {
    const url = parseUrl(issuer);
    if (url?.origin !== originOf(provider.auth_url)) return undefined;
    const calls = new MetadataCalls(this.options.outbound, provider.tenant_id);
    const found = await this.authorizationServer(calls, url).catch(() => undefined);
    if (found?.server.issuer !== issuer || found.server.token_endpoint !== provider.token_url) return undefined;
    return { issuer, iss_required: found.server.authorization_response_iss_parameter_supported === true };
  }

  /** The first usable document, in the order of the standard; undefined when the server publishes none. */
  private async resourceMetadata(calls: MetadataCalls, server: URL): Promise<ResourceMetadata | undefined> {
    const asked = await this.get(calls, server, 'application/json, text/event-stream');
    await asked.body?.cancel();
    const named = challengedMetadata(asked.headers.get('www-authenticate')) ?? '';
    for (const url of [...(parseUrl(named) ? [named] : []), ...wellKnownMetadata(server)]) {
      const answer = await this.get(calls, new URL(url), 'application/json');
      if (answer.status !== 200) {
        await answer.body?.cancel();
        continue;
      }
      const document: unknown = await answer.json().catch(() => undefined);
      const metadata = readMetadata(document, server);
      if (metadata) return metadata;
      calls.note(document === undefined ? 'but not with JSON' : 'but not with metadata of this MCP server');
    }
    return undefined;
  }

  private async authorizationServer(calls: MetadataCalls, issuer: URL) {
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      try {
        const configuration = await openid.discovery(
          issuer,
          'discovery',
          undefined,
          openid.None(),
          this.how(calls, algorithm),
        );
        return { algorithm, server: configuration.serverMetadata() };
      } catch (error) {
        if (providerFailed('', error).fault === 'slow') throw this.failed(calls, error);
        calls.note('but not with metadata of this issuer');
      }
    }
    const sentence = `mcp_server_url: no metadata of an authorisation server was found: ${calls.toString()}.`;
    throw calls.mayPass ? new ProviderFailed('failed', sentence) : new InvalidProvider(sentence);
  }

  private async registerClient(
    calls: MetadataCalls,
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
        this.how(calls, algorithm),
      );
      const { client_id, client_secret, token_endpoint_auth_method } = registered.clientMetadata();
      const chosen = AUTH_METHODS.find((known) => known === (token_endpoint_auth_method ?? method));
      if (chosen === undefined) throw new Error('The client was registered with a method that is not known here.');
      const secret = typeof client_secret === 'string' && client_secret !== '' && chosen !== 'none';
      return { client_id, token_endpoint_auth_method: chosen, ...(secret && { client_secret }) };
    } catch (error) {
      calls.note('but not with a client that can be used here');
      throw this.failed(calls, error);
    }
  }

  private how(calls: MetadataCalls, algorithm: 'oauth2' | 'oidc'): openid.DynamicClientRegistrationRequestOptions {
    return {
      algorithm,
      timeout: TIMEOUT_SECONDS,
      // The guard decides which hosts may be called without TLS.
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: calls.fetch,
    };
  }

  private async get(calls: MetadataCalls, url: URL, accept: string): Promise<Response> {
    // The body is read later: the limit ends by itself.
    const { signal } = new TimeLimit(TIMEOUT_SECONDS * 1000);
    try {
      return await calls.fetch(url, { headers: { accept }, signal });
    } catch (error) {
      throw this.failed(calls, error);
    }
  }

  /** Returns the failure of the last request, with what was asked and what was answered. */
  private failed(calls: MetadataCalls, error: unknown): ProviderFailed {
    const { fault, code } = providerFailed('', error);
    const named = code !== undefined && !code.includes(' ') ? ` with the error ${code}` : '';
    return new ProviderFailed(fault, `mcp_server_url: ${calls.last}${named}.`, code);
  }
}
