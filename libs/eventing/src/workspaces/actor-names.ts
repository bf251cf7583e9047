import { canonicalUuid } from '@fairlead/schema';
import { type Recorded, streamName } from '../core/event';
import type { EventStore } from '../core/event-store';

/** The descriptions of API keys by their ids, read from the log; services that act by themselves have none. */
export async function actorNames(
  store: EventStore,
  actors: Iterable<string | null>,
): Promise<ReadonlyMap<string | null, string>> {
  const keys = [...new Set(actors)].filter((actor): actor is string => canonicalUuid(actor ?? '') !== undefined);
  const found = await Promise.all(keys.map(async (id) => [id, await descriptionOf(store, id)] as const));
  return new Map(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

async function descriptionOf(store: EventStore, id: string): Promise<string | undefined> {
  const events = (await store.read(streamName('apiKey', id))) as Recorded<{
    type: 'ApiKeyCreated';
    data: { description: string };
  }>[];
  return events.findLast(({ type }) => type === 'ApiKeyCreated')?.data.description;
}
