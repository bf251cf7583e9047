import type { Infer } from '@fairlead/schema';
import { LINE_LEVELS, type ProgramLine } from '@fairlead/executors';
import type { programLogQuery } from './log.schema';

export type ProgramLogQuery = Infer<typeof programLogQuery>;

/** A page of lines that are given with the oldest first. */
export function pageOf(
  lines: readonly ProgramLine[],
  { order, limit, offset, ...wanted }: Omit<ProgramLogQuery, 'revision_id'>,
) {
  const fits = fitting(wanted);
  const [place, isRising] = [offset === undefined ? undefined : Number(offset), order === 'asc'];
  // Ids are consecutive, so that the index of the line with the offset is known.
  const beyond = place === undefined ? undefined : place - (lines[0]?.id ?? 0);
  const found: ProgramLine[] = [];
  const [from, step] = isRising
    ? [Math.max(0, (beyond ?? -1) + 1), 1]
    : [Math.min(lines.length, beyond ?? Infinity) - 1, -1];
  for (let at = from; at >= 0 && at < lines.length && found.length < limit; at += step) {
    if (fits(lines[at]!)) found.push(lines[at]!);
  }
  const logs = found.map(({ id, at, level, message }) => {
    return { id: String(id), timestamp: new Date(at).toISOString(), level, message };
  });
  return { logs, next_offset: logs.at(-1)?.id ?? null };
}

function fitting({
  level,
  query = '',
  start_time,
  end_time,
}: Pick<ProgramLogQuery, 'level' | 'query' | 'start_time' | 'end_time'>) {
  const least = level ? LINE_LEVELS.indexOf(level) : 0;
  const text = query.toLowerCase();
  const [from, to] = [(start_time?.micros ?? -Infinity) / 1000, (end_time?.micros ?? Infinity) / 1000];
  return (line: ProgramLine) =>
    LINE_LEVELS.indexOf(line.level) >= least &&
    line.at >= from &&
    line.at <= to &&
    (text === '' || line.message.toLowerCase().includes(text));
}
