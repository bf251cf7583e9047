import { Consistency, EventStore, streamName } from '@fairlead/eventing';
import type { CommandContext } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import { Injectable } from '@nestjs/common';
import { AuthProvidersOptions } from '../oauth/auth-providers.options';
import type { Authentication, Waited } from '../oauth/oauth.schema';
import { OAUTH_VIEW } from '../oauth/oauth.projection';
import { OAuthQueries } from '../oauth/oauth.queries';
import type { Provider } from '../oauth/provider';
import { ProviderCommands } from '../provider/provider.commands';
import { ProviderNotFound } from '../oauth/provider.errors';
import { covers, type Token } from '../oauth/token';
import { TokenNotFound } from '../oauth/token.errors';
import { TokenService } from '../token/token.service';
import { type Asked, AuthorizationService } from './authorization.service';
import { type Authorization, AuthorizationStore } from './authorization.store';
import { AuthorizationWaits } from './authorization-waits.service';

const LONGEST_WAIT_SECONDS = 300;

/** A token that an agent or a user wants. */
interface Wanted {
  readonly provider: string;
  readonly token_id?: string;
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly scopes: readonly string[];
  readonly is_default: boolean;
  readonly force_new: boolean;
}
type Pending = Exclude<Authentication['status'], 'completed'>;

/** Gives out tokens, or addresses at which people can grant them. */
@Injectable()
export class TokenAccess {
  constructor(
    private readonly store: EventStore,
    private readonly consistency: Consistency,
    private readonly flow: AuthorizationService,
    private readonly authorizations: AuthorizationStore,
    private readonly waits: AuthorizationWaits,
    private readonly providers: ProviderCommands,
    private readonly queries: OAuthQueries,
    private readonly tokens: TokenService,
    private readonly options: AuthProvidersOptions,
  ) {}

  /** Returns a token, or the URL at which a person can grant one. @throws ProviderNotFound, TokenNotFound */
  async authenticate(context: CommandContext, wanted: Wanted): Promise<Authentication> {
    const { provider } = await this.providers.find(context.tenantId, wanted.provider);
    const { token, connected } = await this.choose(context, provider, wanted);
    const pending = (status: Pending, token?: Token) => {
      const origin = publicAddress(context, this.options.publicUrl);
      return this.pending(context, origin, provider, wanted, status, token);
    };
    if (!token || wanted.force_new) return pending('pending');
    if (!connected) return pending('connection_required', token);
    if (!covers(token, wanted.scopes)) return pending('pending', token);
    const opened = await this.open(context, token.id, provider);
    if (opened === undefined) return pending('token_expired', token);
    const { id, user_id, scopes, expires_at, provider_account_label } = opened.token;
    const metadata = { token_id: id, scopes, expires_at, provider_account_label };
    return { status: 'completed', url: null, auth_id: null, token: opened.text, user_id, metadata };
  }

  /** Waits until an authorisation has ended, a limited number of seconds. */
  async wait(context: CommandContext, authId: string, timeout: number, gone: AbortSignal): Promise<Waited> {
    const seconds = Math.min(timeout, LONGEST_WAIT_SECONDS);
    const first = await this.ended(context, authId);
    if ('token' in first) return first;
    if (seconds === 0) return { status: 'pending', token: null };
    await this.waits.ended(first.id, seconds * 1000, gone);
    const last = await this.ended(context, authId);
    return 'token' in last ? last : { status: 'timeout', token: null };
  }

  /** The token to use, and whether the agent may: its own connections come first, then the user's tokens. */
  private async choose(
    { tenantId }: CommandContext,
    provider: Provider,
    { token_id, agent_id, user_id, scopes }: Wanted,
  ): Promise<{ token?: Token; connected: boolean }> {
    if (token_id !== undefined) {
      const token = await this.queries.token(tenantId, token_id);
      const fits = token?.provider === provider.id && (user_id === null || token.user_id === user_id);
      if (!token || !fits) throw new TokenNotFound(token_id);
      return { token, connected: true };
    }
    const tokens = await this.queries.tokens(tenantId, { provider: provider.id, user_id });
    const best = (from: Token[]) => from.find((token) => covers(token, scopes)) ?? from[0];
    if (agent_id === null) return { token: best(tokens), connected: true };
    const connected = tokens.filter((token) => token.connections.some((known) => known.agent_id === agent_id));
    return { token: best(connected) ?? best(tokens), connected: connected.length > 0 };
  }

  private async pending(
    context: CommandContext,
    origin: string,
    provider: Provider,
    { user_id, agent_id, is_default, scopes: wanted }: Wanted,
    status: Pending,
    token: Token | undefined,
  ): Promise<Authentication> {
    // Consented to anew, a token keeps what it could do before.
    const scopes = [...new Set([...(token?.requested_scopes ?? []), ...wanted])];
    const asked: Asked = { token_id: token?.id, user_id: token?.user_id ?? user_id, agent_id, scopes, is_default };
    const { url, auth_id } = await this.flow.begin(context, origin, provider, asked);
    return {
      status,
      url,
      auth_id,
      token: null,
      user_id: asked.user_id,
      metadata: token ? { token_id: token.id } : null,
    };
  }

  /** The answer of `wait`, or the authorisation that is still to be waited for. */
  private async ended(context: CommandContext, authId: string): Promise<Waited | Authorization> {
    const { tenantId } = context;
    const found = await this.authorizations.find(tenantId, authId);
    if (!found) return { status: 'not_found', token: null };
    if (found.status === 'failed') return { status: 'not_found', token: null, detail: found.problem ?? undefined };
    if (found.status !== 'completed') {
      return found.expired
        ? { status: 'not_found', token: null, detail: 'Nobody signed in within ten minutes.' }
        : found;
    }
    try {
      const provider = await this.providers.byId(tenantId, found.provider);
      // The sign-in has ended while this request waited.
      await this.consistency.upToDate(tenantId, [OAUTH_VIEW]);
      const opened = await this.open(context, found.token_id, provider);
      return { status: opened ? 'completed' : 'not_found', token: opened?.text ?? null };
    } catch (error) {
      if (!(error instanceof ProviderNotFound) && !(error instanceof TokenNotFound)) throw error;
      return { status: 'not_found', token: null };
    }
  }

  /** The token in plain text; that it was given out is recorded first. */
  private async open(context: CommandContext, id: string, provider: Provider) {
    const { metadata } = context;
    const text = await this.tokens.open(id, provider, metadata);
    if (text === undefined) return undefined;
    const token = await this.queries.token(context.tenantId, id);
    if (!token) throw new TokenNotFound(id);
    const read = { type: 'OAuthTokenRead' as const, data: { provider_id: token.provider_id, user_id: token.user_id } };
    await this.store.append(streamName('oauthTokenAccess', id), 'any', [read], metadata);
    return { text, token };
  }
}
