import type { LogLine } from './log.schema';

/** A line of a log, as far as it is counted. */
interface Counted {
  readonly at: number;
  readonly level: LogLine['level'];
}

/** Lines of one part of a time that is divided into equal parts, which are numbered from 0. */
export interface Bin {
  readonly bin: number;
  readonly lines: number;
  readonly warnings: number;
  readonly errors: number;
}

/** Counts lines, the oldest of which comes first, in equal parts of the time between the first and the last. */
export function binned(lines: readonly Counted[], bins: number): Bin[] {
  const [from, to] = [lines[0]?.at ?? 0, lines.at(-1)?.at ?? 0];
  const found = new Map<number, { lines: number; warnings: number; errors: number }>();
  for (const { at, level } of lines) {
    const bin = to === from ? 0 : Math.max(0, Math.min(bins - 1, Math.floor(((at - from) / (to - from)) * bins)));
    const counts = found.get(bin) ?? { lines: 0, warnings: 0, errors: 0 };
    found.set(bin, counts);
    counts.lines++;
    if (level === 'WARNING') counts.warnings++;
    if (level === 'ERROR' || level === 'CRITICAL') counts.errors++;
  }
  return [...found].sort(([one], [other]) => one - other).map(([bin, counts]) => ({ bin, ...counts }));
}

/** The parts as the API answers them; times are in milliseconds since 1970. */
export function countsOf(found: readonly Bin[], from: number | undefined, to: number | undefined, bins: number) {
  if (from === undefined || to === undefined) return { from: null, to: null, bins: [] };
  const iso = (time: number) => new Date(time).toISOString();
  const told = found.map(({ bin, ...counts }) => ({ at: iso(from + ((to - from) * bin) / bins), ...counts }));
  return { from: iso(from), to: iso(to), bins: told };
}
