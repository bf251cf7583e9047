import type { RunAttachment, RunChange } from '../run/run-change';
import { bytesOfRuns } from '../run/run-bytes';
import { type Usage, usageOf } from '../common/run-usage';

/** All changes of one run in an event, as one. */
export interface MergedRun {
  /** The last value of each member that was sent. */
  readonly change: RunChange;
  /** Names of members that were sent: none of these is left out any more, unless `change` says so. */
  readonly sent: ReadonlySet<string>;
  /** Start of a new run for which none was sent: the end in its first change, else the time of the event. */
  readonly start: string;
  readonly usage: Usage;
  readonly counts: readonly Count[];
}

/** Bytes that one change counts for its workspace, unless it only repeats what was known. */
interface Count {
  readonly bytes: number;
  /** The change says something else than an earlier change of the event. */
  readonly isNews: boolean;
  /** Members that no earlier change of the event had. */
  readonly first: readonly string[];
}

/** Changes of runs that came with one event. */
export interface RunChanges {
  readonly runs: readonly RunChange[];
  /** Time of the event, ISO 8601. */
  readonly time: string;
}

/** Returns one change for each run, in the order of their first changes; applying it is applying all in their order. */
export function mergedRuns(events: readonly RunChanges[]): MergedRun[] {
  const merging = new Map<string, MergedRun>();
  for (const { runs, time } of events)
    for (const change of runs) merging.set(change.id, merged(merging.get(change.id), change, time));
  return [...merging.values()];
}

/**
 * Bytes that the changes of a run count for their workspace; those that repeat what was known count nothing.
 * @param differing members that the known run has otherwise; undefined for a new run
 */
export function countedBytes({ counts }: MergedRun, differing: ReadonlySet<string> | undefined): number {
  let counted = 0;
  for (const { bytes, isNews, first } of counts) {
    if (isNews || first.some((name) => differing?.has(name) ?? true)) counted += bytes;
  }
  return counted;
}

function merged(before: MergedRun | undefined, change: RunChange, time: string): MergedRun {
  const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as RunChange & {};
  const names = new Set(Object.keys(said));
  const usage = usageOf(change);
  const leftOut = new Set([...(before?.change.left_out ?? []), ...(change.left_out ?? [])]);
  for (const name of names) leftOut.delete(name);
  return {
    change: {
      ...before?.change,
      ...said,
      attachments: attachmentsOf([...(before?.change.attachments ?? []), ...(change.attachments ?? [])]),
      left_out: leftOut.size > 0 ? [...leftOut].sort() : undefined,
    },
    sent: new Set([...(before?.sent ?? []), ...names]),
    start: before?.start ?? change.end_time ?? time,
    usage: before ? later(before.usage, usage) : usage,
    counts: [...(before?.counts ?? []), countOf(before?.change, change, names)],
  };
}

function countOf(before: RunChange | undefined, change: RunChange, names: ReadonlySet<string>): Count {
  const earlier = new Map<string, unknown>(Object.entries(before ?? {}));
  const said = Object.entries(change).filter(([name]) => names.has(name));
  const isNews = said.some(([name, value]) => typeof value === 'string' && (earlier.get(name) ?? value) !== value);
  const first = said.flatMap(([name]) => (earlier.get(name) === undefined ? [name] : []));
  return { bytes: bytesOfRuns([change]), isNews, first };
}

/** An attachment takes the place of an earlier one of its name. */
function attachmentsOf(attachments: readonly RunAttachment[]): readonly RunAttachment[] | undefined {
  if (attachments.length === 0) return undefined;
  return [...new Map(attachments.map((attachment) => [attachment.name, attachment])).values()];
}

function later(before: Usage, after: Usage): Usage {
  const known = Object.entries(after).filter(([, value]) => value !== null);
  return { ...before, ...Object.fromEntries(known) };
}
