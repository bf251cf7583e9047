import type { FastifyReply, FastifyRequest } from 'fastify';

/** Response headers that scripts may read, beside those that they may always read. */
const EXPOSED = [
  'age',
  'content-disposition',
  'content-location',
  'etag',
  'idempotent-replayed',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'warning',
  'x-dry-run',
  'x-error-count',
  'x-pagination-total',
  'x-request-id',
  'x-should-retry',
].join(', ');
const PREFLIGHT_SECONDS = '7200';

/** Origins whose scripts may call the service; `*` for all. */
export type CorsOrigins = '*' | readonly string[];

/** Handles cross-origin requests. Keys are sent in headers, so browsers are never asked to send cookies. */
export class Cors {
  private readonly origins: ReadonlySet<string>;

  constructor(private readonly allowed: CorsOrigins) {
    this.origins = new Set(allowed === '*' ? [] : allowed);
  }

  /** Returns the headers that let scripts of `origin` read an answer, if they may; without an origin only `vary`. */
  headers(origin: string | undefined): Readonly<Record<string, string>> {
    const vary: Record<string, string> = this.allowed === '*' ? {} : { vary: 'origin' };
    if (!this.allows(origin)) return vary;
    return {
      ...vary,
      'access-control-allow-origin': this.allowed === '*' ? '*' : origin,
      'access-control-expose-headers': EXPOSED,
    };
  }

  allows(origin: string | undefined): origin is string {
    return origin !== undefined && (this.allowed === '*' || this.origins.has(origin));
  }

  /** Adds the headers of the answer to a preflight, beside `headers`. */
  preflight(request: FastifyRequest, reply: FastifyReply, methods: readonly string[]): void {
    const headers = request.headers['access-control-request-headers'];
    void reply
      .header('access-control-allow-methods', methods.join(', '))
      .header('access-control-max-age', PREFLIGHT_SECONDS);
    if (headers !== undefined) void reply.header('access-control-allow-headers', headers);
  }
}

/**
 * Parses the setting CORS_ORIGINS: `*`, or origins separated by commas.
 * @throws Error with the rest of a sentence that begins with the name of the setting.
 */
export function parseCorsOrigins(text: string): CorsOrigins {
  if (text === '*') return '*';
  const origins = text.split(',').map((entry) => entry.trim().replace(/\/$/, ''));
  const wrong = origins.find((entry) => !URL.canParse(entry) || new URL(entry).origin !== entry);
  if (wrong === undefined) return origins;
  throw new Error(
    `holds ${JSON.stringify(wrong)}, which is no origin such as https://app.example; list them with commas, or give *`,
  );
}
