import { createHash } from 'node:crypto';
import { chain } from './chain';
import { streamName, type DomainEvent, type Metadata, type Recorded } from './event';
import { type EventStore, VersionConflict } from './event-store';

type NameReserved = DomainEvent<'NameReserved', { owner: string }>;
type NameReleased = DomainEvent<'NameReleased', { owner: string }>;

/** Another stream holds the name. */
export class NameTaken extends Error {
  constructor(
    /** Stream that holds the name, e.g. `deployment-<id>`. */
    readonly owner: string,
  ) {
    super(`The name is held by ${owner}.`);
    this.name = 'NameTaken';
  }
}

/** A reservation whose owner has no events after this long was left by a crash and may be taken over. */
const ABANDONED_AFTER_MS = 60_000;

/** The stream that stands for one name within a tenant. */
export function nameStream(category: string, tenant: string, name: string): string {
  return streamName(category, createHash('sha256').update(`${tenant}\0${name}`).digest('hex'));
}

/**
 * Reserves a name for the stream `owner`, which is expected to get its first event within a minute.
 * Reserving again for the same owner changes nothing.
 * @throws NameTaken when another stream holds the name.
 */
export async function reserve(store: EventStore, name: string, owner: string, metadata: Metadata): Promise<void> {
  for (;;) {
    const events = await store.read(name);
    const last = events.at(-1) as ((NameReserved | NameReleased) & { time: string }) | undefined;
    if (last?.type === 'NameReserved') {
      if (last.data.owner === owner) return;
      const abandoned = Date.now() - Date.parse(last.time) > ABANDONED_AFTER_MS;
      if (!abandoned || (await store.read(last.data.owner)).length > 0) throw new NameTaken(last.data.owner);
    }
    try {
      await store.append(name, events.length, [{ type: 'NameReserved', data: { owner } }], linked(metadata, events));
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** Gives a name back when `owner` holds it; otherwise does nothing. */
export async function release(store: EventStore, name: string, owner: string, metadata: Metadata): Promise<void> {
  for (;;) {
    const events = await store.read(name);
    const last = events.at(-1) as NameReserved | NameReleased | undefined;
    if (last?.type !== 'NameReserved' || last.data.owner !== owner) return;
    try {
      await store.append(name, events.length, [{ type: 'NameReleased', data: { owner } }], linked(metadata, events));
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

function linked(metadata: Metadata, events: readonly Recorded[]): Metadata {
  return events.length === 0 ? metadata : { ...metadata, previous: chain(events) };
}

/** The stream that holds a name now, if any. */
export async function holder(store: EventStore, name: string): Promise<string | undefined> {
  const last = (await store.read(name)).at(-1) as NameReserved | NameReleased | undefined;
  return last?.type === 'NameReserved' ? last.data.owner : undefined;
}
