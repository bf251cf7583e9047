import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import { guardedFetch, OutboundFailure } from '@fairlead/outbound';
import { type FairShare, NoPlace, type Recent } from '@fairlead/schema';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound, refusal } from './code-host.errors';
import type { IntegrationsOptions } from '../integration/integrations.options';

/** An answer that is sent again when the host says that it holds. */
export interface KeptAnswer {
  readonly etag: string;
  readonly body: string;
  readonly headers: Headers;
}

const LONGEST_KEPT = 1024 * 1024;
const BUSY = new Set([429, 500, 502, 503, 504]);
/** Statuses of a host for a commit that it does not have, and for a repository without any. */
const MISSING = new Set([404, 409, 422]);
/** Limits of an archive: bytes as it is sent, and milliseconds until its end. */
const ARCHIVE = { bytes: 200 * 1024 * 1024, whole: 10 * 60_000 };

/**
 * Sends requests to one code host for one integration: through the address check, a few at a time per workspace and
 * host, with retries when the host is busy, and with the `ETag` of the last answer.
 */
export class HostClient {
  constructor(
    private readonly options: IntegrationsOptions,
    /** Calls under way, by workspace and host. */
    private readonly places: FairShare,
    private readonly answers: Recent<KeptAnswer>,
    /** The integration at a version, whose answers nobody else gets. */
    private readonly integration: string,
    private readonly workspace: string,
    /** Name of the host for messages of errors. */
    private readonly host: string,
  ) {}

  /**
   * A replacement for `fetch`. Answers with the status 2xx and 4xx have their whole body read.
   * @throws CodeHostFailed, CodeHostTooSlow
   */
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    this.attempt(input, this.options.retry.attempts, init);

  /** The same in one attempt, for a request that would do something twice. */
  readonly fetchOnce = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    this.attempt(input, 1, init);

  /**
   * Returns the body of an archive as it comes, in one attempt. One redirect is followed, whose address is checked as the
   * first one is, and which gets no credentials.
   * @throws CommitNotFound, CodeHostFailed, CodeHostTooSlow; the last two also while it is read.
   */
  async download(address: string, authorization: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    try {
      const first = await this.begin(address, { authorization }, signal);
      const location = locationOf(first, address);
      if (location !== undefined) await first.body?.cancel();
      const answer = location === undefined ? first : await this.begin(location, {}, signal);
      if (answer.ok && answer.body) return this.pieces(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>));
      await answer.body?.cancel();
      throw this.noArchive(answer);
    } catch (error) {
      throw this.failure(error);
    }
  }

  private begin(address: string, credentials: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const url = new URL(address);
    // An encoding of the transport would be undone, and with it that of the archive.
    const headers = { 'user-agent': 'fairlead', 'accept-encoding': 'identity', ...credentials };
    const call = () => guardedFetch(url, { headers, signal }, this.options.outbound, this.workspace, ARCHIVE);
    return this.inTurn(url, signal, call);
  }

  private async *pieces(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    try {
      yield* source;
    } catch (error) {
      throw this.failure(error);
    }
  }

  private noArchive(answer: Response): Error {
    const { status, headers } = answer;
    if (MISSING.has(status)) return new CommitNotFound('not found');
    if (isBusy(answer)) return this.busy(status, waitAsked(headers));
    if (status >= 400) return refusal(this.host, status);
    return new CodeHostFailed(`${this.host} sends no archive: check base_url, and repo_url if it was renamed.`, false);
  }

  private async attempt(input: string | URL | Request, attempts: number, init: RequestInit = {}): Promise<Response> {
    try {
      return await this.insist(new URL(input instanceof Request ? input.url : input), attempts, init);
    } catch (error) {
      throw this.failure(error);
    }
  }

  private async insist(url: URL, attempts: number, init: RequestInit): Promise<Response> {
    const { backoff, longestWait } = this.options.retry;
    for (let attempt = 1; ; attempt++) {
      let asked = 0;
      try {
        const answer = await this.inTurn(url, init.signal, () => this.once(url, init));
        if (!isBusy(answer)) return answer;
        asked = waitAsked(answer.headers);
        if (attempt >= attempts || asked > longestWait) throw this.busy(answer.status, asked);
      } catch (error) {
        const again = error instanceof OutboundFailure && error.fault === 'unreachable' && attempt < attempts;
        if (!again) throw error;
      }
      const grown = backoff * 2 ** (attempt - 1) * (0.5 + Math.random());
      await pause(Math.min(Math.max(asked, grown), longestWait), undefined, { signal: init.signal ?? undefined });
    }
  }

  private async inTurn(
    url: URL,
    signal: AbortSignal | null | undefined,
    call: () => Promise<Response>,
  ): Promise<Response> {
    return this.places.hold(`${this.workspace} ${url.host}`, { patience: this.options.listDeadline, signal }, call);
  }

  private async once(url: URL, init: RequestInit): Promise<Response> {
    const name = `${this.integration} ${url.href}`;
    const known = init.method === undefined || init.method === 'GET' ? this.answers.get(name) : undefined;
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'fairlead');
    if (known) headers.set('if-none-match', known.etag);
    const answer = await guardedFetch(url, { ...init, headers }, this.options.outbound, this.workspace);
    const body = await answer.text();
    if (known && answer.status === 304) return this.respond(known.body, 200, known.headers, url);
    if (answer.status >= 300 && answer.status < 400) {
      const hint = 'check base_url, and repo_url if it was renamed';
      throw new CodeHostFailed(`${this.host} answered with a redirect, which is not followed: ${hint}.`, false);
    }
    const etag = answer.headers.get('etag');
    const isKept = answer.ok && etag !== null && body.length <= LONGEST_KEPT && (init.method ?? 'GET') === 'GET';
    if (isKept) this.answers.set(name, { etag, body, headers: answer.headers });
    return this.respond(body, answer.status, answer.headers, url);
  }

  private respond(body: string, status: number, headers: Headers, url: URL): Response {
    const empty = status === 204 || status === 205;
    return Object.defineProperty(new Response(empty ? null : body, { status, headers }), 'url', { value: url.href });
  }

  private busy(status: number, wait: number): CodeHostFailed {
    const seconds = wait > 0 ? Math.ceil(wait / 1000) : undefined;
    const sentence =
      status === 429 || status === 403 ? `${this.host} limits our requests.` : `${this.host} answered ${status}.`;
    return new CodeHostFailed(sentence, true, seconds);
  }

  private failure(error: unknown): unknown {
    if (error instanceof CodeHostFailed) return error;
    if (error instanceof OutboundFailure && error.fault !== 'timeout') {
      if (error.fault === 'refused') return new CodeHostFailed(`${this.host} may not be called from here.`, false);
      if (error.fault === 'too large') return new CodeHostFailed(`${this.host} sent too large an answer.`, false);
      return new CodeHostFailed(`${this.host} could not be reached.`, true);
    }
    if (error instanceof NoPlace)
      return new CodeHostTooSlow(`${this.host} has too many calls of this workspace to answer.`);
    const late = error instanceof OutboundFailure || ['TimeoutError', 'AbortError'].includes((error as Error).name);
    return late ? new CodeHostTooSlow(`${this.host} took too long to answer.`) : error;
  }
}

/** Returns where a redirect leads; undefined when the answer is none. */
function locationOf({ status, headers }: Response, address: string): string | undefined {
  const location = headers.get('location');
  const isRedirect = [301, 302, 303, 307, 308].includes(status) && location !== null && URL.canParse(location, address);
  return isRedirect ? new URL(location, address).href : undefined;
}

/** Returns whether the host is busy, or limits requests with the status 403. */
function isBusy({ status, headers }: Response): boolean {
  return BUSY.has(status) || (status === 403 && (headers.has('retry-after') || remaining(headers) === '0'));
}

/**
 * Returns the pause that the host asks for, from Retry-After or the end of its window (ms); 0 when it asks for none.
 */
function waitAsked(headers: Headers): number {
  const after = headers.get('retry-after');
  if (after !== null) {
    const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
    return Math.max(0, Number.isNaN(seconds) ? 0 : seconds * 1000);
  }
  const reset = headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset');
  if (reset === null || remaining(headers) !== '0') return 0;
  return Math.max(0, Number(reset) * 1000 - Date.now());
}

function remaining(headers: Headers): string | null {
  return headers.get('x-ratelimit-remaining') ?? headers.get('ratelimit-remaining');
}
