import { type Command, InvalidArgumentError } from 'commander';
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
export interface Listed<T> {
  readonly items: readonly T[];
  readonly json: string;
}

/** Reads pages until there are enough. `read` answers the items of a page as one JSON array. */
export async function listed<T>(
  context: Context,
  { limit, all }: ListOptions,
  read: (page: { limit: number; offset: number }) => Promise<string>,
): Promise<Listed<T>> {
  const most = all ? Infinity : (limit ?? DEFAULT);
  const items: T[] = [];
  const texts: string[] = [];
  for (;;) {
    const size = Math.min(PAGE, most - items.length);
    const text = (await read({ limit: size, offset: items.length })).trim();
    const page = JSON.parse(text) as T[];
    items.push(...page);
    if (page.length > 0) texts.push(text.slice(1, -1));
    if (page.length < size) break;
    if (items.length < most) continue;
    if (limit === undefined && !context.out.json) context.out.note(`The first ${most}; --all shows all.`);
    break;
  }
  return { items, json: `[${texts.join(',')}]` };
}

/** Items of a page of the control plane as JSON. */
export function resourcesOf(page: string): string {
  return JSON.stringify((JSON.parse(page) as { resources: unknown }).resources);
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

/** One of these words, in capitals or not. */
export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    const word = text.toUpperCase();
    if (words.includes(word)) return word;
    throw new InvalidArgumentError(`It is one of ${words.join(', ')}.`);
  };
}

/** Some of these words, separated by commas. */
export function someOf(words: readonly string[]): (text: string) => string {
  const one = oneOf(words);
  return (text) =>
    text
      .split(',')
      .map((word) => one(word.trim()))
      .join(',');
}

/** For options that can be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
