import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { accepted, refusal } from './answers';
import type { Connection } from './connection';
import { EXIT, Failure, Interrupted, Usage } from '../failure';
import { retryPause } from './retry';
import { exchange, textOf, transportFailure } from './transport';

type Value = string | number | boolean | undefined;
export type Query = Readonly<Record<string, Value | readonly string[]>>;

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Query;
  /** JSON text, or what makes the stream of a body, each time it is sent. */
  readonly body?: string | (() => Readable);
  readonly headers?: Readonly<Record<string, string>>;
  /** May be sent again when it is not known what became of it; so may whatever only reads. */
  readonly repeatable?: boolean;
  /** Is never sent again. */
  readonly once?: boolean;
  /** A response of any type is taken, not only those that commands read. */
  readonly anyType?: boolean;
  /** Milliseconds to wait beyond the usual, as for an answer that is held back on purpose. */
  readonly patience?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface ApiOptions {
  /** Milliseconds to wait for an answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Is around every request, to show that an answer is waited for. */
  readonly waiting: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told when a request is about to be repeated. */
  readonly onRetry: (why: string) => void;
}

const WORKSPACES = '/api/v1/workspaces';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The service's HTTP API. What is safe to repeat is repeated; every failure is a Failure with a sentence. */
export class Api {
  private reached = false;
  private tenant: Promise<string> | undefined;

  constructor(
    readonly connection: Connection,
    private readonly options: ApiOptions,
  ) {}

  /** The answer to a GET as text. */
  async read(path: string, query: Query = {}): Promise<string> {
    return (await this.page(path, query)).text;
  }

  /** The whole answer to a GET. */
  page(path: string, query: Query): Promise<Answer> {
    return this.send({ method: 'GET', path, query });
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return JSON.parse(await this.read(path, query)) as T;
  }

  /** Sends a command so that it is carried out once, however often it has to be sent. */
  async command(call: Call): Promise<Answer> {
    const headers = { 'idempotency-key': randomUUID(), ...call.headers };
    return this.send({ ...call, headers, repeatable: true });
  }

  /** @throws Refusal for an error answer, Failure when there is none */
  async send(call: Call): Promise<Answer> {
    return this.attempt(call, async (message) => {
      const text = await textOf(message);
      return { status: message.statusCode ?? 0, headers: message.headers, text };
    });
  }

  /** The body of an answer while it comes. */
  async open(call: Call): Promise<IncomingMessage> {
    return this.attempt(call, (message) => Promise.resolve(message));
  }

  private async attempt<T>(call: Call, receive: (message: IncomingMessage) => Promise<T>): Promise<T> {
    // What is uploaded shows its own progress.
    if (typeof call.body === 'function') return this.attempts(call, receive);
    return this.options.waiting(() => this.attempts(call, receive));
  }

  private async attempts<T>(call: Call, receive: (message: IncomingMessage) => Promise<T>): Promise<T> {
    const reading = call.method === 'GET';
    const repeatable = !call.once && (reading || call.repeatable === true);
    const headers = await this.headers(call);
    const { timeoutMs } = this.options;
    const idleMs = timeoutMs + (call.patience ?? 0);
    for (let attempts = 1, paused = 0; ; attempts++) {
      let failure: Failure;
      let outcome;
      try {
        const message = await this.exchange(call, headers, idleMs);
        this.reached = true;
        const { statusCode: status = 0 } = message;
        if (status < 300) return await receive(call.anyType ? message : accepted(message, this.connection.url));
        outcome = { status, retryAfter: message.headers['retry-after'] };
        failure = refusal(message, await textOf(message), this.connection.url);
      } catch (error) {
        outcome = { error: (error as NodeJS.ErrnoException).code };
        failure = transportFailure(error, this.connection.url, idleMs);
      }
      const pause = retryPause(outcome, { repeatable, reading, reached: this.reached, attempts });
      if (pause === undefined || (paused += pause) > timeoutMs) throw failure;
      this.options.onRetry(`${failure.message} Trying again in ${Math.ceil(pause / 1000)} s.`);
      await this.pause(pause);
    }
  }

  private async exchange(call: Call, headers: Record<string, string>, idleMs: number): Promise<IncomingMessage> {
    const { method, path, query = {}, body } = call;
    const url = new URL(this.connection.url + path);
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? (value as readonly string[]) : [value as Value]) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    const { signal } = this.options;
    const sent = typeof body === 'function' ? body() : body;
    return exchange({ url, method, headers, body: sent, idleMs, signal });
  }

  private async headers(call: Call): Promise<Record<string, string>> {
    const headers: Record<string, string> = { 'x-api-key': this.connection.key, accept: 'application/json' };
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    const { workspace } = this.connection;
    if (workspace !== undefined && call.path !== WORKSPACES) headers['x-tenant-id'] = await this.tenantId(workspace);
    return { ...headers, ...call.headers };
  }

  /** The id of the workspace that was named. */
  private tenantId(workspace: string): Promise<string> {
    if (isUuid(workspace)) return Promise.resolve(workspace);
    this.tenant ??= this.get<{ id: string; display_name: string; tenant_handle: string | null }[]>(WORKSPACES).then(
      (all) => {
        const named = all.filter((one) => one.display_name === workspace || one.tenant_handle === workspace);
        if (named.length === 1) return named[0]!.id;
        if (named.length > 1) throw new Usage(`Several workspaces are named ${workspace}: give an id.`);
        throw new Failure(`No workspace of this key is named ${workspace}.`, EXIT.notFound);
      },
    );
    return this.tenant;
  }

  /** Waits between two requests. @throws Interrupted */
  async pause(ms: number): Promise<void> {
    const { signal } = this.options;
    await delay(ms, undefined, { signal }).catch(() => {
      throw new Interrupted();
    });
  }
}

/** The reason for a change as a header, which holds plain characters only. */
export function reasonHeader(reason: string | undefined): Record<string, string> {
  return reason === undefined ? {} : { 'x-reason': encodeURIComponent(reason) };
}
