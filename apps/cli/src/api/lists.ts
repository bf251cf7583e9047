import { type Command, InvalidArgumentError } from 'commander';
import type { Answer } from './api';
import type { Context } from './context';

const PAGE = 100;
const DEFAULT = 50;

export interface ListOptions {
  readonly limit?: number;
  readonly all?: boolean;
}

export function listOptions(command: Command): Command {
  return command
    .option('--limit <n>', `at most so many (default: ${DEFAULT})`, whole)
    .option('--all', 'all of them, however many');
}

/** A list of the API, as items and as the JSON text that was answered. */
interface Listed<T> {
  readonly items: readonly T[];
  readonly json: string;
}

/** Query of the next page: the number of items, and where it begins. */
export type PageQuery = Readonly<Record<'limit' | 'offset', number> & Partial<Record<'cursor', string>>>;

/**
 * Reads pages until there are enough. `read` answers a page of any of the API's shapes: an array, or an object that holds
 * one and perhaps a cursor; with `count`, where the route takes it, also the number of all items. A list that is not paged
 * is complete at once.
 */
export async function listed<T>(
  context: Context,
  { limit, all }: ListOptions,
  read: (page: PageQuery, count: true | undefined) => Promise<Answer>,
  isPaged = true,
): Promise<Listed<T>> {
  const most = all || !isPaged ? Infinity : (limit ?? DEFAULT);
  const items: T[] = [];
  const texts: string[] = [];
  // What is left out is told in number.
  const count = (limit === undefined && !all && !context.out.json) || undefined;
  let cursor: string | undefined;
  for (;;) {
    const size = Math.min(PAGE, most - items.length);
    const page = pageOf<T>(await read({ limit: size, offset: items.length, cursor }, count));
    items.push(...page.items);
    if (page.items.length > 0) texts.push(page.json.slice(1, -1));
    const isLast = page.cursor === undefined ? page.items.length < size : page.cursor === null;
    if (!isPaged || isLast) break;
    cursor = page.cursor ?? undefined;
    if (items.length < most) continue;
    if (page.total !== items.length && count) {
      const known = page.total === undefined ? '' : ` of ${page.total}`;
      context.out.note(`The first ${most}${known}; --all shows all.`);
    }
    break;
  }
  return { items, json: `[${texts.join(',')}]` };
}

interface ListPage<T> {
  readonly items: readonly T[];
  readonly json: string;
  /** Cursor of the next page: null on the last one, undefined where pages have none. */
  readonly cursor?: string | null;
  /** Number of items on all pages, where the service tells it. */
  readonly total?: number;
}

function pageOf<T>({ text, headers }: Answer): ListPage<T> {
  const value = JSON.parse(text) as T[] | Record<string, unknown>;
  if (Array.isArray(value)) {
    const told = headers['x-pagination-total'];
    return { items: value, json: text.trim(), total: told === undefined ? undefined : Number(told) };
  }
  const known = value.resources ?? value.items ?? value.runs ?? value.data;
  // Others name their list after what is in it, such as `traces`.
  const items = (known ?? Object.values(value).find(Array.isArray) ?? []) as T[];
  const { cursor, next_cursor, after, cursors } = value as Record<string, string | null> & {
    cursors?: { next: string | null };
  };
  const next = cursors ? cursors.next : [cursor, next_cursor, after].find((each) => each !== undefined);
  const { total } = value as { readonly total?: number };
  return { items, json: JSON.stringify(items), cursor: next, total };
}

export function whole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number from 1.');
}

/** A point in time as the service takes it: ISO 8601, with or without a zone. */
export function time(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}|$)/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It is a time such as 2026-01-31T12:00:00Z.');
}

/** For options that can be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
