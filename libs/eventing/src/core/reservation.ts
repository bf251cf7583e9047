import { createHash } from 'node:crypto';
import { Recent } from '@fairlead/schema';
import { chain } from './chain';
import { streamName, type DomainEvent, type Metadata, type Recorded } from './event';
import { type EventStore, StreamDeleted, VersionConflict } from './event-store';

type NameReserved = DomainEvent<'NameReserved', { owner: string }>;
type NameReleased = DomainEvent<'NameReleased', { owner: string }>;
export type NameEvent = NameReserved | NameReleased;

/** Age after which a reservation that its owner does not use may be taken over: a crash left it. */
const ABANDONED_AFTER_MS = 60_000;
/**
 * Largest number of watched reservations. Beyond it, the one that was seen first is forgotten, and will be taken over
 * later.
 */
const MOST_WATCHED = 10_000;

/**
 * Returns true when the owner of a name will never use it again, because its deletion stopped before the name was
 * released; `unused` when the owner has another name now, which is also so for a moment during a renaming.
 */
export type IsGone = (owner: string) => Promise<boolean | 'unused'>;

/** When this process first saw a reservation that nobody uses, in milliseconds of its own clock that only goes forward. */
interface Watched {
  readonly id: string;
  readonly since: number;
}

const watched = new WeakMap<EventStore, Recent<Watched>>();

/** Returns the stream that represents one name within a tenant. */
export function nameStream(category: string, tenant: string, name: string): string {
  return streamName(category, createHash('sha256').update(`${tenant}\0${name}`).digest('hex'));
}

/**
 * Reserves a name for the stream `owner`, which is expected to get its first event within a minute.
 * Reserving again for the same owner changes nothing. The name of an owner that `isGone` is taken over at once. A process
 * takes a name over as well when it has seen the same reservation a minute before and its owner still has no events, or
 * another name: the clocks of two processes are never compared.
 * @throws what `taken` makes of the stream that holds the name, when that is another one.
 */
export async function reserveName(
  store: EventStore,
  name: string,
  owner: string,
  isGone: IsGone,
  { metadata, taken }: { readonly metadata: Metadata; readonly taken: (owner: string) => Error },
): Promise<void> {
  for (;;) {
    const events = await store.read(name);
    const last = events.at(-1) as Recorded<NameEvent> | undefined;
    if (last?.type === 'NameReserved') {
      if (last.data.owner === owner) return;
      if (!(await isFree(store, last, isGone))) throw taken(last.data.owner);
    }
    try {
      await store.append(name, events.length, [{ type: 'NameReserved', data: { owner } }], linked(metadata, events));
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/**
 * Returns true when the owner of a reservation is gone, or does not use the reservation, which has been seen for a
 * minute.
 */
async function isFree(
  store: EventStore,
  { id, stream, data: { owner } }: Recorded<NameReserved>,
  isGone: IsGone,
): Promise<boolean> {
  const gone = await isGone(owner);
  if (gone === true) return true;
  const seen = watched.get(store) ?? new Recent<Watched>(MOST_WATCHED);
  watched.set(store, seen);
  const known = seen.get(stream);
  const isUsed = gone === false && (await store.read(owner)).length > 0;
  if (!isUsed && known?.id === id) return performance.now() - known.since > ABANDONED_AFTER_MS;
  seen.delete(stream);
  if (isUsed) return false;
  seen.set(stream, { id, since: performance.now() });
  return false;
}

/**
 * Releases a name that `owner` holds; otherwise does nothing. A name whose stream was deleted in the event store is
 * held by nobody.
 */
export async function release(store: EventStore, name: string, owner: string, metadata: Metadata): Promise<void> {
  for (;;) {
    try {
      const events = await store.read(name);
      const last = events.at(-1) as NameEvent | undefined;
      if (last?.type !== 'NameReserved' || last.data.owner !== owner) return;
      await store.append(name, events.length, [{ type: 'NameReleased', data: { owner } }], linked(metadata, events));
      return;
    } catch (error) {
      if (error instanceof StreamDeleted) return;
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

function linked(metadata: Metadata, events: readonly Recorded[]): Metadata {
  return events.length === 0 ? metadata : { ...metadata, previous: chain(events) };
}

/** Returns the stream that holds a name; undefined when it is free. */
export async function holder(store: EventStore, name: string): Promise<string | undefined> {
  const last = (await store.read(name)).at(-1) as NameEvent | undefined;
  return last?.type === 'NameReserved' ? last.data.owner : undefined;
}
