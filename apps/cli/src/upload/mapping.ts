import type { ImportReport } from './import-report';
import { Usage } from '../failure';
import { type Target, TARGETS, targetOf, UNITS } from './row-target';

/** One `--map`: where a column, or a path with dots into its JSON, goes. */
export interface Mapping {
  readonly source: string;
  readonly target: Target;
}

/** Options for reading the rows of a file. */
export interface RowOptions {
  readonly map: readonly Mapping[];
  readonly decimal: '.' | ',';
  /** Keys whose scores are kept as text. */
  readonly textScores: ReadonlySet<string>;
  readonly report: ImportReport;
}

const BRACES = /\{([^{}]+)\}/g;

/** The `--map column=target` options, parsed, in their order. @throws Usage */
export function mapping(options: readonly string[]): Mapping[] {
  return options.map((option) => {
    const equals = option.lastIndexOf('=');
    const [source, to] = [option.slice(0, equals).trim(), option.slice(equals + 1).trim()];
    const target = targetOf(to);
    if (equals >= 1 && target) {
      if (target.kind !== 'score') return { source, target };
      return { source, target: { ...target, isTemplate: columnsIn(target.key).length > 0 } };
    }
    const why = to.startsWith('latency:') ? `the unit of a latency is one of ${UNITS}` : `with one of ${TARGETS}`;
    throw new Usage(`--map ${option}: write COLUMN=TARGET, ${why}.`);
  });
}

/** Columns in the braces of a key. */
export function columnsIn(key: string): string[] {
  return [...key.matchAll(BRACES)].map(([, name]) => name!);
}

/** The key with the values of its columns. */
export function filledKey(key: string, valueOf: (column: string) => string): string {
  return key.replaceAll(BRACES, (_, name: string) => valueOf(name));
}

/** The error for a column that `--map` names and the file does not have. */
export function unknownColumn(name: string, known: readonly string[]): Usage {
  const hint = meant(name, known);
  const all = known.slice(0, 40).join(', ') + (known.length > 40 ? ', …' : '');
  return new Usage(`--map names ${name}, which is no column of the file.${hint} There are: ${all}.`);
}

/** A question after the name that somebody may have meant, with a space before it; empty without such a name. */
export function meant(name: string, known: readonly string[]): string {
  const near = closest(name, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** The name that differs from another one by the fewest letters, by a third of them at most. */
function closest(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .filter((other) => other.length <= 200)
    .map((other) => ({ other, far: distance(name.slice(0, 200).toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  return best && best.far <= Math.max(1, Math.floor(name.length / 3)) ? best.other : undefined;
}

/** Letters to add, take out or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + Number(a[i - 1] !== b[j - 1])));
    }
    row = next;
  }
  return row.at(-1)!;
}
