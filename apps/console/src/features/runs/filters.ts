import type { Counted } from '../../api/projects';
import type { TracesAsked } from '../../api/traces';
import type { Parameters } from '../../ui/address';

const HOUR_MS = 3_600_000;
/** Hours of the spans of time that an address can name. */
const SPANS: Readonly<Record<string, number>> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720, '90d': 2160 };
const STATUSES = ['success', 'error', 'pending'] as const;

/** A filter by score that is written to its end. */
const SCORE = /^(.+?)\s*(<=|>=|<|>|=)\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;
const COMPARISONS: Readonly<Record<string, string>> = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte', '=': 'eq' };

/** Parameters of an address that filter root runs. */
export const FILTERS = [
  ...(['status', 'name', 'type', 'since', 'from', 'to'] as const),
  ...(['tag', 'metadata', 'score', 'q', 'thread'] as const),
];

/** Says why a filter is not used as it is written; undefined when it is. */
export function faultOf({ score, from, to }: Parameters): string | undefined {
  if (score && !SCORE.test(score)) return 'A score is filtered by its key, <, <=, >, >= or =, and a number.';
  const wrong = [from, to].find((time) => time && timeOf(time) === undefined);
  return wrong === undefined ? undefined : 'A time is written like 2026-01-31T14:30.';
}

/** Parameters of an address that name a time. */
export const TIME_FILTERS = ['since', 'from', 'to'] as const;

/** The time that an address names; `now` in milliseconds since 1970. */
export function timesOf(search: Parameters, now: number): Counted {
  const { since = '' } = search;
  const hours = Object.hasOwn(SPANS, since) ? SPANS[since]! : undefined;
  const from = timeOf(search.from) ?? (hours === undefined ? undefined : new Date(now - hours * HOUR_MS).toISOString());
  const to = timeOf(search.to);
  return { ...(from && { from }), ...(to && { to }) };
}

/** The root runs that an address asks for; `now` in milliseconds since 1970. */
export function tracesAsked(search: Parameters, now: number): TracesAsked {
  const { type, tag, q, thread } = search;
  const asked = {
    ...timesOf(search, now),
    status: STATUSES.find((status) => status === search.status),
    run_type: type,
    tag,
    text: q,
    thread_id: thread,
    filter: filterOf(search),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value)) as TracesAsked;
}

function timeOf(text: string | undefined): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** Expression in the language of the SDKs for the filters that need one; undefined for none. */
function filterOf({ name, metadata, score }: Parameters): string | undefined {
  const found: string[] = [];
  if (name) found.push(`like(name, ${quoted(`%${name}%`)})`);
  if (metadata) found.push(metadataOf(metadata));
  const [, key, comparison, value] = SCORE.exec(score ?? '') ?? [];
  if (key !== undefined) {
    found.push(`and(eq(feedback_key, ${quoted(key)}), ${COMPARISONS[comparison!]}(feedback_score, ${Number(value)}))`);
  }
  return found.length > 1 ? `and(${found.join(', ')})` : found[0];
}

/** `key=value`, or a key alone. */
function metadataOf(text: string): string {
  const at = text.indexOf('=');
  if (at <= 0) return `exists(metadata, ${quoted(text)})`;
  return `and(eq(metadata_key, ${quoted(text.slice(0, at))}), eq(metadata_value, ${quoted(text.slice(at + 1))}))`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
