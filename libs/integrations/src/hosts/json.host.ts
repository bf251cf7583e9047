import { check, Problems, type Schema } from '@fairlead/schema';
import { CommitNotFound, refusal, unexpected } from './code-host.errors';
import type { HostClient } from './host.client';

/** Largest number of pages of a list, for hosts whose lists never end. */
export const MOST_PAGES = 1000;
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** One page of a list and the address of the next. */
interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Reads a JSON API with an Authorization header. Answers are checked against schemas. */
export class JsonHost {
  constructor(
    private readonly client: HostClient,
    private readonly api: string,
    private readonly authorization: string,
    private readonly host: string,
  ) {}

  /**
   * Returns the answer to a GET below the address of the API, or at an address from an answer.
   * @throws CodeHostFailed, CodeHostTooSlow; CommitNotFound for 404 and 422.
   */
  async get<T>(path: string, schema: Schema<T>, signal: AbortSignal): Promise<{ value: T; headers: Headers }> {
    const url = new URL(path.startsWith('/') ? this.api + path : path);
    // Credentials go to no other host than the one they were given for.
    if (url.origin !== new URL(this.api).origin) throw unexpected(this.host);
    const headers = { accept: 'application/json', authorization: this.authorization };
    const answer = await this.client.fetch(url, { headers, signal });
    if (answer.status === 404 || answer.status === 422) throw new CommitNotFound('not found');
    if (!answer.ok) throw refusal(this.host, answer.status);
    return { value: believe(schema, parse(await answer.text(), this.host), this.host), headers: answer.headers };
  }

  /** Returns a large file below the address of the API, or at another one that the credentials are for. */
  download(path: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.client.download(path.startsWith('/') ? this.api + path : path, this.authorization, signal);
  }

  /** Returns all items of a list, whose pages `page` reads. */
  async all<T, P>(
    first: string,
    schema: Schema<P>,
    page: (value: P, headers: Headers) => Page<T>,
    signal: AbortSignal,
  ): Promise<T[]> {
    const items: T[] = [];
    const seen = new Set<string>();
    for (let next: string | undefined = first; next !== undefined;) {
      if (seen.has(next) || seen.size === MOST_PAGES) throw unexpected(this.host);
      seen.add(next);
      const { value, headers } = await this.get(next, schema, signal).catch((error: unknown) => {
        throw error instanceof CommitNotFound ? refusal(this.host, 404) : error;
      });
      const found: Page<T> = page(value, headers);
      items.push(...found.items);
      next = found.next;
    }
    return items;
  }
}

/** Returns the address of the next page from a `Link` header. */
export function nextLink(headers: Headers): string | undefined {
  const links = headers.get('link')?.split(/,\s*(?=<)/) ?? [];
  return links.map((link) => /^<([^>]+)>.*;\s*rel="?next"?/.exec(link)?.[1]).find((url) => url !== undefined);
}

/** Checks a value against the documented form of the host. @throws CodeHostFailed */
export function believe<T>(schema: Schema<T>, input: unknown, host: string): T {
  const problems = new Problems();
  const value = check(schema, input, [], problems);
  if (problems.total > 0) throw unexpected(host);
  return value as T;
}

/** Checks a full commit id. @throws CodeHostFailed when it is none */
export function commitId(text: string, host: string): string {
  if (!COMMIT.test(text)) throw unexpected(host);
  return text;
}

function parse(text: string, host: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unexpected(host);
  }
}
