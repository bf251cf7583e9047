import { INVALID } from '@fairlead/schema';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { Credentials } from '../integration/integration';
import type { Repository } from '../integration/record';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound, refusal, unexpected } from './code-host.errors';
import type { Dialect, Order, Page, PageAt, Question } from './dialect';
import type { HostClient } from './host.client';

/** Largest number of pages of a list, for hosts whose lists never end. */
const MOST_PAGES = 1000;

interface Answer {
  /** 0 for none that the host documents. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

type Sent = Pick<Order<unknown>, 'method' | 'body' | 'once'>;
const GET = { method: 'GET' } as const;

/** A code host with a JSON API, with the credentials of one integration. */
export class CodeHost {
  /** Statuses for something that the host does not have. */
  protected readonly missing: readonly number[] = [404, 422];

  constructor(
    protected readonly client: HostClient,
    protected readonly api: string,
    readonly dialect: Dialect,
    /** The `Authorization` header. */
    private readonly authorization: string,
    /** Name of the host for messages of errors. */
    protected readonly host: string,
  ) {}

  /** @throws CommitNotFound, CodeHostFailed, CodeHostTooSlow */
  async get<T>(question: Question<T>, signal: AbortSignal): Promise<T> {
    const answer = await this.send(question.at, signal);
    if (this.missing.includes(answer.status)) throw new CommitNotFound('not found');
    return this.read(question, answer);
  }

  /** Lets the host change something. @throws CommitNotFound, CodeHostFailed, CodeHostTooSlow */
  async order<T>(order: Order<T>, signal: AbortSignal): Promise<T> {
    const answer = await this.send(order.at, signal, order);
    if (order.accepts?.includes(answer.status)) return order.read(undefined, answer.headers) as T;
    if (this.missing.includes(answer.status)) throw new CommitNotFound('not found');
    return this.read(order, answer);
  }

  /** Returns every repository that the credentials can see and that has a default branch, from all pages. */
  async repositories(signal: AbortSignal): Promise<readonly Repository[]> {
    return this.dialect.repositories((first, page) => this.all(first, page, signal));
  }

  /** Returns the items of all pages of a list. @throws CodeHostFailed, CodeHostTooSlow */
  async all<T>(first: string, page: PageAt<T>, signal: AbortSignal): Promise<T[]> {
    const items: T[] = [];
    const seen = new Set<string>();
    for (let next: string | undefined = first; next !== undefined;) {
      if (seen.has(next) || seen.size === MOST_PAGES) throw unexpected(this.host);
      seen.add(next);
      const found: Page<T> = this.read(page(next, seen.size), await this.send(next, signal));
      items.push(...found.items);
      next = found.next;
    }
    return items;
  }

  /** Returns a gzip tarball of a commit as it comes. @throws CommitNotFound, CodeHostFailed, CodeHostTooSlow */
  async archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.client.download(this.address(this.dialect.archive(path, commit)), await this.authorize(), signal);
  }

  protected async send(at: string, signal: AbortSignal, sent: Sent = GET): Promise<Answer> {
    const url = new URL(this.address(at));
    // Credentials go to no other host than the one they were given for.
    if (url.origin !== new URL(this.api).origin) throw unexpected(this.host);
    const { method, body, once } = sent;
    const headers: Record<string, string> = { accept: 'application/json', authorization: this.authorization };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const request = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await (once ? this.client.fetchOnce : this.client.fetch)(url, request);
    return {
      status: answer.status,
      headers: answer.headers,
      body: answer.ok ? parse(await answer.text()) : undefined,
    };
  }

  protected authorize(): Promise<string> {
    return Promise.resolve(this.authorization);
  }

  private address(at: string): string {
    return at.startsWith('/') ? this.api + at : at;
  }

  private read<T>(question: Question<T>, { status, headers, body }: Answer): T {
    if (status < 200 || status > 299) throw refusal(this.host, status);
    const value = question.read(body, headers);
    if (value === INVALID) throw unexpected(this.host);
    return value;
  }
}

const quiet = () => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** GitHub, where Octokit signs requests, also for the installation of an App. */
export class GitHub extends CodeHost {
  protected override readonly missing = [404, 409, 422];
  private readonly octokit: Octokit;

  constructor(client: HostClient, api: string, dialect: Dialect, credentials: Credentials, host: string) {
    super(client, api, dialect, '', host);
    const settings = { baseUrl: api, request: { fetch: client.fetch }, log: SILENT };
    if (credentials.kind === 'token') this.octokit = new Octokit({ ...settings, auth: credentials.token });
    else {
      const { app_id: appId, installation_id: installationId, private_key: privateKey } = credentials;
      const auth = { appId, installationId, privateKey };
      this.octokit = new Octokit({ ...settings, authStrategy: createAppAuth, auth });
    }
  }

  protected override async send(at: string, signal: AbortSignal, sent: Sent = GET): Promise<Answer> {
    // Octokit decides by the route how it signs in, so a name that somebody gave is no part of it.
    const [, folder, last = '', search = ''] = /^(.*\/)([^/?]*)(.*)$/.exec(at) ?? [];
    const { method, body: data, once } = sent;
    const request = { signal, fetch: once ? this.client.fetchOnce : this.client.fetch };
    const parameters = { last: decodeURIComponent(last), request, ...(data !== undefined && { data }) };
    try {
      const answer = await this.octokit.request(`${method} ${folder}{last}${search}`, parameters);
      const { status, headers } = answer;
      return { status, headers: new Headers({ link: headers.link ?? '' }), body: answer.data as unknown };
    } catch (error) {
      return { status: this.statusOf(error), headers: new Headers(), body: undefined };
    }
  }

  /** The token of the credentials, which an App gets for its installation. */
  protected override async authorize(): Promise<string> {
    try {
      const { token } = (await this.octokit.auth({ type: 'installation' })) as { token: string };
      return `token ${token}`;
    } catch (error) {
      throw refusal(this.host, this.statusOf(error));
    }
  }

  /** Returns the status of a refusal. @throws the error of the client, which Octokit wraps */
  private statusOf(error: unknown): number {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof CodeHostFailed || cause instanceof CodeHostTooSlow) throw cause;
    }
    const { status, name } = error as { status?: number; name?: string };
    if (name === 'AbortError' || name === 'TimeoutError') throw new CodeHostTooSlow(`${this.host} took too long.`);
    return status ?? 0;
  }
}

/** Returns null for a text that is no JSON, which no schema takes. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
