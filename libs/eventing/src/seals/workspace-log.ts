import { hash as hashOf, randomUUID } from 'node:crypto';
import { setImmediate as otherRequests } from 'node:timers/promises';
import { chain } from '../core/chain';
import type { Recorded } from '../core/event';
import { type EventStore, StreamDeleted } from '../core/event-store';
import type { LogSeal } from './log-seals';
import { leafOf } from './seal-tree';
import { startOf } from './sealed-events';
import { type TreeProof, TreeProofBuilder } from './tree-proof';

/** The events before one of a workspace in its stream, which are of other workspaces: only the hash of the stream then. */
interface ForeignEvents {
  readonly stream: string;
  /** Version of the last of them. */
  readonly version: number;
  readonly hash: string;
}

/** A part of the log of a workspace. `proof` is of the events since the seal before. */
export type WorkspacePart =
  | { readonly event: Recorded; readonly isFirstOfStream: boolean }
  | { readonly foreign: ForeignEvents }
  | { readonly seal: LogSeal & { readonly proof?: TreeProof } };

/** A seal of the log, with the positions between which the events of its tree are; without them when nothing says them. */
interface PlacedSeal {
  readonly seal: LogSeal;
  readonly start?: bigint;
  readonly end: bigint;
  readonly tree: TreeProofBuilder;
}

/** Number of events of others after which other requests get their turn. */
const AT_ONCE = 250;
/** Number of streams with events of several workspaces whose hash is remembered, so that none is read twice. */
const MOST_SHARED = 10_000;

/**
 * Yields the events of a workspace in the order of the log up to `end`, and each of `seals` after the events it covers.
 * It reads the whole log once and keeps a number for each stream of the workspace.
 * @throws the reason of `signal` once that aborts
 */
export async function* workspaceLog(
  store: EventStore,
  tenant: string,
  seals: readonly LogSeal[],
  end: bigint,
  signal?: AbortSignal,
): AsyncGenerator<WorkspacePart> {
  const covering = new CoveringSeals(store, seals, end);
  const streams = new StreamVersions(store, tenant);
  let turns = 0;
  for await (const event of eventsUpTo(store, end)) {
    signal?.throwIfAborted();
    const isOwn = event.metadata.tenant === tenant;
    for (const seal of covering.before(event, isOwn)) yield { seal };
    covering.add(event, isOwn);
    if (!isOwn) {
      if (++turns % AT_ONCE === 0) await otherRequests();
      continue;
    }
    const { isFirstOfStream, foreign } = await streams.take(event);
    if (foreign) yield { foreign };
    yield { event, isFirstOfStream };
  }
  for (const seal of covering.rest()) yield { seal };
}

async function* eventsUpTo(store: EventStore, end: bigint): AsyncGenerator<Recorded> {
  if (end === 0n) return;
  const ending = new AbortController();
  try {
    for await (const { events, position } of store.subscribe(0n, ending.signal)) {
      for (const event of events) {
        if (event.position > end) return;
        yield event;
      }
      if (position >= end) return;
    }
  } finally {
    ending.abort();
  }
}

/** Collects the proofs of seals, and tells which seals end before an event. */
class CoveringSeals {
  /** Seals that do not end before the events so far. */
  private readonly placed: PlacedSeal[];
  private hasOwn = false;
  /** Seals without a place before the first event of the workspace: they may be of the time after it. */
  private unplaced: LogSeal[] = [];

  constructor(store: EventStore, seals: readonly LogSeal[], head: bigint) {
    const isDense = store.stride === 1n;
    this.placed = seals.map((seal) => {
      const start = startOf(seal, seals, isDense);
      const end = start === undefined ? 0n : BigInt(seal.position);
      // After the end of a log that was cut nothing comes.
      return { seal, ...(end <= head && { start }), end, tree: new TreeProofBuilder() };
    });
  }

  *before({ position, time }: Recorded, isOwn: boolean): Generator<LogSeal & { proof?: TreeProof }> {
    for (let one = this.placed[0]; one && (one.start === undefined || one.end < position);) {
      if (this.hasOwn) yield sealed(one);
      else if (one.start === undefined) this.unplaced.push(one.seal);
      else this.unplaced = [];
      this.placed.shift();
      one = this.placed[0];
    }
    if (!isOwn) return;
    const day = time.slice(0, 10);
    yield* this.unplaced.filter((seal) => seal.day >= day);
    this.unplaced = [];
    this.hasOwn = true;
  }

  /** Adds an event to the trees that it is in: to the first as an own one, to those that overlap with it as another's. */
  add(event: Recorded, isOwn: boolean): void {
    let leaf: string | undefined;
    for (const [at, one] of this.placed.entries()) {
      if (one.start === undefined || one.start >= event.position) return;
      if (isOwn && at === 0) one.tree.addOwn();
      else one.tree.addOther((leaf ??= leafOf(event)));
    }
  }

  *rest(): Generator<LogSeal & { proof?: TreeProof }> {
    if (this.hasOwn) for (const one of this.placed) yield sealed(one);
  }
}

/** A tree that is not there as a whole proves nothing: its events have no verdict. */
function sealed({ seal, start, tree }: PlacedSeal): LogSeal & { proof?: TreeProof } {
  const isWhole = start !== undefined && tree.count === seal.count - seal.from!;
  return isWhole && tree.own > 0 ? { ...seal, proof: tree.proof() } : seal;
}

/** Notices the events of others in the streams of a workspace, by the versions of its own. */
class StreamVersions {
  /** The version of the newest own event, by 48 bits of a hash of the stream's name: names take much room. */
  private readonly versions = new Map<number, number>();
  /** Clients choose names of streams; without it they could make two with the same hash. */
  private readonly salt = randomUUID();
  private shared = new Map<string, ForeignEvents>();

  constructor(
    private readonly store: EventStore,
    private readonly tenant: string,
  ) {}

  /** Takes the next own event. `foreign` is there when events of others are directly before it in its stream. */
  async take({ stream, version }: Recorded): Promise<{ isFirstOfStream: boolean; foreign?: ForeignEvents }> {
    const key = hashOf('sha256', this.salt + stream, 'buffer').readUIntBE(0, 6);
    const known = this.versions.get(key);
    this.versions.set(key, version);
    const isFirstOfStream = known === undefined;
    if (version === (known ?? 0) + 1) return { isFirstOfStream };
    const foreign = this.foreign(stream, known ?? 0, version - 1).catch((error: unknown) => {
      // What is missing is then missing in the export too, which does not verify.
      if (!(error instanceof StreamDeleted)) throw error;
      return undefined;
    });
    return { isFirstOfStream, foreign: await foreign };
  }

  /** The versions after `from` up to `to`; undefined when one of them is missing or is of this workspace after all. */
  private async foreign(stream: string, from: number, to: number): Promise<ForeignEvents | undefined> {
    let { version, hash } = this.shared.get(stream) ?? { version: 0, hash: '' };
    let found = from;
    for await (const part of this.store.parts(stream, version)) {
      const events = part.filter((event) => event.version <= to);
      for (const event of events) {
        if (event.version <= from) continue;
        if (event.version !== found + 1 || event.metadata.tenant === this.tenant) return undefined;
        found = event.version;
      }
      hash = chain(events, hash);
      version = events.at(-1)?.version ?? version;
      if (version >= to) break;
    }
    if (found !== to) return undefined;
    if (this.shared.size >= MOST_SHARED) this.shared = new Map();
    const reached = { stream, version, hash };
    this.shared.set(stream, reached);
    return reached;
  }
}
