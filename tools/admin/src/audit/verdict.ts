import type { LogReport } from './log-check';

/** The last line of an audit and its exit code, which claim no more than was checked. */
export function verdict(
  wrong: number,
  report: LogReport | undefined,
  rows: 'all' | 'some' | 'none',
): { line: string; code: 0 | 1 | 3 } {
  if (wrong > 0) return { line: `${wrong} things are not as they were written.`, code: 1 };
  if (report && report.unchecked.length > 0) {
    return { line: 'Nothing wrong was found, but not everything could be checked: see NOT CHECKED above.', code: 3 };
  }
  const said: string[] = [];
  if (report) {
    const { position, count } = report.proven;
    const after = report.events - count;
    said.push(`The log up to position ${position} is as it was written.`);
    if (after > 0) {
      const since = `${after} events, ${after - report.unsealed} of them sealed since`;
      said.push(
        `What comes after it (${since}) is what the service says now: only a later head shows whether it was rewritten.`,
      );
    }
  } else said.push('The log was not checked.');
  if (rows === 'all') said.push('Every row of the read models is what the log says.');
  if (rows === 'some') said.push('Every row of the read models that were named is what the log says.');
  if (rows === 'none') said.push('The read models were not compared.');
  return { line: said.join(' '), code: 0 };
}
