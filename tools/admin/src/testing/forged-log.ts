import {
  chain,
  grown,
  hashLog,
  leafOf,
  type LogHash,
  type LogSeal,
  NOTHING,
  type Recorded,
  rootOf,
  sealHash,
  sealText,
  type SealTree,
  type Signature,
} from '@fairlead/eventing';

/** The stream of the seals. */
export const SEALS = 'logSeals-1';

/**
 * Returns the log with events changed, and with everything that follows from them made anew and signed: the hashes in
 * streams and the seals. `reached` is the place up to which the service would have hashed it.
 */
export function forgedLog(
  written: readonly Recorded[],
  change: (event: Recorded) => Recorded,
  signed: (text: string) => Signature,
): { readonly events: Recorded[]; readonly reached: LogHash } {
  const streams = new Map<string, { hash: string; held?: string; holds?: string }>();
  const reached = new Map<string, LogHash>();
  const leaves: string[] = [];
  let log = NOTHING;
  let last: LogSeal | undefined;
  const events = written.map((original) => {
    let event = change(original);
    if (event.stream === SEALS) {
      const { day, position, number, from } = event.data as LogSeal;
      const { count } = reached.get(position)!;
      let tree: SealTree = { from: from!, peaks: [] };
      for (let at = from!; at < count; at++) tree = grown(tree, at, leaves[at]!);
      const root = { from: from!, root: rootOf(tree)! };
      const unsigned = {
        day,
        number: number!,
        previous: last ? sealHash(last) : '',
        ...reached.get(position)!,
        ...root,
      };
      last = { ...unsigned, ...signed(sealText(unsigned)) };
      event = { ...event, data: last };
    }
    const stream = streams.get(event.stream) ?? { hash: '' };
    const { previous } = original.metadata;
    if (previous !== undefined) {
      const holds = previous === stream.held ? stream.holds! : stream.hash;
      Object.assign(stream, { held: previous, holds });
      event = { ...event, metadata: { ...event.metadata, previous: holds } };
    }
    stream.hash = chain([event], stream.hash);
    streams.set(event.stream, stream);
    log = hashLog([event], log);
    leaves.push(leafOf(event));
    reached.set(log.position, log);
    return event;
  });
  return { events, reached: log };
}
