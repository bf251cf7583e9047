import type { Installation } from '@fairlead/service/testing';
import type { Literal, Page, Query } from './query';
import { allSessions, type Run, type Session, type Things } from './things';

export type Of<K extends Query['of']> = Extract<Query, { of: K }>;
export type Answered = ReturnType<typeof JSON.parse>;

/** A kind of query as the service answers it over HTTP, and as the model does: both in the same form. */
export abstract class Asked<Q extends Query> {
  protected readonly sessions: readonly Session[];
  protected readonly runs: readonly Run[];
  /** Runs that queries name by their places: their ids are the same in every run of the test. */
  protected readonly named: readonly Run[];
  protected readonly byId: ReadonlyMap<string, Run>;

  constructor(
    protected readonly installation: Installation,
    protected readonly things: Things,
  ) {
    this.sessions = allSessions(things);
    this.runs = this.sessions.flatMap(({ runs }) => runs);
    this.named = [...things.projects, ...things.experiments].flatMap(({ runs }) => runs);
    this.byId = new Map(this.runs.map((run) => [run.id, run]));
  }

  /** The answer of the service. @throws Error when it is no success, or its pages do not fit together */
  abstract actual(query: Q): Promise<unknown>;

  /** The answer of the model. */
  abstract expected(query: Q): unknown;

  protected ask(method: string, path: string, body?: object): Promise<Answered> {
    return this.installation.ask(method, path, body);
  }
}

/** Numbers as far as doubles that were added in another order agree. */
export function rounded<T extends Readonly<Record<string, number | null>>>(numbers: T): T {
  const entries = Object.entries(numbers).map(([name, value]) => [
    name,
    // A number in the middle between two of nine digits would be rounded either way.
    value === null ? null : Number((value * (1 + 1e-12)).toPrecision(9)),
  ]);
  return Object.fromEntries(entries) as T;
}

export function given(parameters: Readonly<Record<string, Literal | undefined>>): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

/** A parameter that is repeated. */
export function many(name: string, values: readonly string[] = []): [string, string][] {
  return values.map((value) => [name, value]);
}

export function ids(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}

export function slice<T>({ offset, limit, toEnd }: Page, of: readonly T[]): T[] {
  return of.slice(offset, toEnd ? undefined : offset + limit);
}

/** The page of a query or, when it is read to the end, all from it on. @throws Error when a page is too large */
export async function listed<T>(
  { offset, limit, toEnd }: Page,
  read: (page: Page) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const page = await read({ offset: offset + found.length, limit });
    if (page.length > limit) throw new Error(`A page of ${limit} has ${page.length}.`);
    found.push(...page);
    if (!toEnd || page.length < limit) return found;
  }
}
