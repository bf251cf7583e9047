import { Recent } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import { Consistency, EventStore, handle, load, type Metadata, streamName } from '@fairlead/eventing';
import type { FastifyRequest } from 'fastify';
import { KEPT, Lookup } from '../keys/lookup';
import { AccessOptions } from '../tenants/access.options';
import type { ApiKeyEntity } from '../keys/api-key.entity';
import { CODE_MS, type ConsoleCode, consoleCodeModel, issueCode, newCode, useCode } from './console-code';
import { CodeUnusable } from './console.errors';
import { requireSameOrigin, tokenIn } from './console-cookie';
import {
  consoleSessionModel,
  createSession,
  digest,
  endSession,
  identify,
  isLive,
  isStale,
  newToken,
  sessionEnd,
  useSession,
} from './console-session';
import type { ConsoleSessionEntity } from './console-session.entity';
import { ConsoleSessionQueries, consoleSessionViews } from './console-session.queries';

const SYSTEM = 'system:access';
/** Sessions of one key; when there are more, the oldest ends. */
const MOST_SESSIONS = 50;

/** Opens, finds and ends the console's sessions, and gives out the codes that open one. */
@Injectable()
export class ConsoleSessionCommands {
  private readonly logger = new Logger(ConsoleSessionCommands.name);
  private readonly sessions: Lookup<ConsoleSessionEntity>;
  /** Sessions that were not found before: a flood of unknown tokens does not delay the others' queries. */
  private readonly unproven: Lookup<ConsoleSessionEntity>;
  private readonly proven = new Recent<true>(KEPT);
  private readonly recording = new Set<string>();
  /** Waits until the views show every session with its key. @throws ViewBehind */
  private readonly shown: () => Promise<void>;

  constructor(
    private readonly store: EventStore,
    private readonly queries: ConsoleSessionQueries,
    private readonly options: AccessOptions,
    consistency: Consistency,
  ) {
    this.sessions = new Lookup((ids) => queries.byIds(ids));
    this.shown = () => consistency.upToDate(undefined, consoleSessionViews);
    this.unproven = new Lookup((ids) => queries.byIds(ids), this.shown);
  }

  /** True when a request has a cookie of the console, whatever it holds. */
  isNamedIn(request: FastifyRequest): boolean {
    return tokenIn(request, this.options.https) !== undefined;
  }

  /**
   * The live session whose token is in the cookie of a request, undefined when there is none.
   * @throws Forbidden when the request does not come from a page of this origin.
   */
  async find(request: FastifyRequest): Promise<ConsoleSessionEntity | undefined> {
    const known = identify(tokenIn(request, this.options.https) ?? '');
    if (!known) return undefined;
    const session = await (this.proven.has(known.id) ? this.sessions : this.unproven).get(known.id);
    const now = Date.now();
    if (!session || session.hash !== known.hash || !isLive(session, now)) return undefined;
    this.proven.set(session.id, true);
    requireSameOrigin(request);
    if (isStale(session, now) && !isUnattended(request)) this.recordUse(session);
    return session;
  }

  /** Opens a session of a key in a workspace; `token` is for the browser and is known nowhere else. */
  async open(
    key: ApiKeyEntity,
    tenantId: string,
    metadata: Metadata,
  ): Promise<{ session: ConsoleSessionEntity; token: string }> {
    const token = newToken();
    const { id, hash } = digest(token);
    const facts = {
      ...{ id, hash, key_id: key.id, key_hash: key.hash, tenant_id: tenantId, organization_id: key.organization_id },
      expires_at: sessionEnd(key.expires_at, Date.now()),
      address: metadata.address ?? '',
    };
    const stream = streamName('consoleSession', id);
    const { state, version } = await handle(this.store, consoleSessionModel, stream, createSession(facts), metadata);
    const session = { ...state!, version };
    this.learn(session);
    await this.endSurplus(key.id, metadata);
    return { session, token };
  }

  /**
   * Ends the oldest sessions of a key beyond MOST_SESSIONS. Of sessions that are opened at the same time, the last call
   * sees all.
   */
  private async endSurplus(keyId: string, metadata: Metadata): Promise<void> {
    // Where the view is behind, the next session that is opened ends them.
    await this.shown().catch(() => undefined);
    for (const surplus of (await this.queries.ofKey(keyId)).slice(MOST_SESSIONS)) await this.end(surplus, metadata);
  }

  /** Ends a session. Nothing changes when it has ended already. */
  async end(id: string, metadata: Metadata): Promise<void> {
    const stream = streamName('consoleSession', id);
    const { state, version } = await handle(this.store, consoleSessionModel, stream, endSession, metadata);
    if (state) this.learn({ ...state, version });
  }

  /** A code with which one session of the key in the workspace can be opened, within ten minutes. */
  async issueCode(
    key: Pick<ApiKeyEntity, 'id' | 'hash'>,
    tenantId: string,
    metadata: Metadata,
  ): Promise<{ code: string; expires_at: string }> {
    const code = newCode();
    const { id, hash } = digest(code);
    const expires_at = new Date(Date.now() + CODE_MS).toISOString();
    const facts = { key_id: key.id, key_hash: key.hash, tenant_id: tenantId, hash, expires_at };
    await handle(this.store, consoleCodeModel, streamName('consoleCode', id), issueCode(facts), metadata);
    return { code, expires_at };
  }

  /** Uses a code up and answers for whom it was made. @throws CodeUnusable */
  async redeem(code: string): Promise<ConsoleCode> {
    const { id, hash } = digest(code);
    const stream = streamName('consoleCode', id);
    const { state: known } = await load(this.store, consoleCodeModel, stream);
    if (!known) throw new CodeUnusable();
    const metadata = { tenant: known.tenant_id, actor: SYSTEM };
    const { state } = await handle(this.store, consoleCodeModel, stream, useCode(hash, Date.now()), metadata);
    return state!;
  }

  private recordUse({ id, tenant_id: tenant }: ConsoleSessionEntity): void {
    if (this.recording.has(id)) return;
    this.recording.add(id);
    const stream = streamName('consoleSession', id);
    handle(this.store, consoleSessionModel, stream, useSession(Date.now()), { tenant, actor: SYSTEM })
      .then(({ state, version }) => this.learn({ ...state!, version }))
      .catch((error: unknown) => this.logger.warn(`The use of a console session was not recorded: ${String(error)}`))
      .finally(() => this.recording.delete(id));
  }

  private learn(session: ConsoleSessionEntity): void {
    this.sessions.put(session);
    this.unproven.put(session);
  }
}

/** True when a page says that it sends a request by itself: waiting for changes does not keep a session from ending. */
function isUnattended({ headers }: FastifyRequest): boolean {
  return headers['x-unattended'] === 'true';
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of the console that stands for the key of the request. */
    consoleSession?: ConsoleSessionEntity;
  }
}
