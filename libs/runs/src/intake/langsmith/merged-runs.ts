import type { RunAttachment, RunChange } from '../../run/run-change';
import { bytesOfRuns } from '../../run/run-bytes';
import { type Usage, usageOf } from '../../run/run-usage';

/** All changes of one run in an event, as one. */
export interface MergedRun {
  /** The last value of each member that was sent. */
  readonly change: RunChange;
  /** Names of members that were sent: none of these is left out any more, unless `change` says so. */
  readonly sent: ReadonlySet<string>;
  /** Start of a new run for which none was sent: the end in its first change, else the time of the event. */
  readonly start: string;
  readonly usage: Usage;
  /** Bytes that the changes count for their workspace. */
  readonly bytes: number;
}

/** Returns one change for each run, in the order of their first changes; applying it is applying all in their order. */
export function mergedRuns(changes: readonly RunChange[], time: string): MergedRun[] {
  const runs = new Map<string, MergedRun>();
  for (const change of changes) runs.set(change.id, merged(runs.get(change.id), change, time));
  return [...runs.values()];
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
    bytes: (before?.bytes ?? 0) + bytesOfRuns([change]),
  };
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
