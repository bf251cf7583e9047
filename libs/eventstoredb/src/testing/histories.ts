import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventType, upcastersOf } from '@fairlead/contracts';
import {
  categoryOf,
  chain,
  type DomainEvent,
  type EventStore,
  eventingMigrations,
  fold,
  type Model,
  PostgresEventStore,
  type Recorded,
  UpcastingEventStore,
} from '@fairlead/eventing';
import { MemoryEventStore, take } from '@fairlead/eventing/testing';
import { testDatabase } from '@fairlead/postgres/testing';
import { EventStoreDbStore } from '../event-store';
import { EventStoreDbDouble } from './esdb-double';

/** Streams as a version of Fairlead wrote them, and what they are folded to. */
interface History {
  readonly description: string;
  readonly events: readonly (Omit<Recorded, 'position'> & { readonly position: string })[];
  /** By stream; streams that no model folds have none. */
  readonly states: Readonly<Record<string, unknown>>;
}

/** An event type, and how its data would look had it been written in another shape before. */
interface Reshaped {
  readonly type: EventType;
  readonly older: (data: Record<string, unknown>) => Record<string, unknown>;
  /** From the older shape, or from today's, to today's. */
  readonly today: (data: Record<string, unknown>) => Record<string, unknown>;
}

/** A member that had another name in the older shape. */
export function renamed(type: EventType, member: string, former: string): Reshaped {
  const swap = (data: Record<string, unknown>, from: string, to: string) => {
    const { [from]: value, ...others } = data;
    return from in data ? { ...others, [to]: value } : data;
  };
  return { type, older: (data) => swap(data, member, former), today: (data) => swap(data, former, member) };
}

type Models = Readonly<Record<string, Model<unknown, DomainEvent>>>;
type Opened = { readonly store: EventStore; readonly close: () => Promise<void> };

const STORES: Readonly<Record<string, () => Promise<Opened>>> = {
  memory: async () => ({ store: new MemoryEventStore(), close: async () => undefined }),
  PostgreSQL: async () => {
    const database = await testDatabase(eventingMigrations);
    const store = new PostgresEventStore(database.pool);
    return { store, close: () => store.close().then(() => database.drop()) };
  },
  EventStoreDB: async () => {
    const double = await EventStoreDbDouble.start();
    const store = new EventStoreDbStore(double.url, { limits: { attempt: 20_000, total: 60_000 } });
    return { store, close: () => store.close().then(() => double.stop()) };
  },
};

/**
 * The tests of the recorded streams in a folder: today's models, by the category of their streams, understand them; and
 * once the shape of one event has changed, every store gives streams that were written before in today's shape.
 */
export function historyTests(folder: string, models: Models, { type, older, today }: Reshaped): void {
  const histories = readdirSync(folder).map((file) => {
    const { description, events, states } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as History;
    const recorded = events.map((event): Recorded => ({ ...event, position: BigInt(event.position) }));
    return { file, description, states, streams: byStream(recorded) };
  });

  describe('recorded histories', () => {
    it.each(histories)('$file is still understood: $description', ({ streams, states }) => {
      expect(statesOf(models, streams)).toEqual(states);
    });
  });

  describe(`streams with ${type} in an older shape`, () => {
    const changed = histories.filter(({ streams }) => Object.values(streams).some((events) => events.some(isChanged)));
    const upcast = <E extends { type: string; data: unknown }>(event: E): E => ({
      ...event,
      data: today(event.data as never),
    });
    const upcasters = upcastersOf([[type, { schema: 2, operation: 'change', upcast }]]);

    it.each(Object.keys(STORES))('are read in today’s shape from %s', async (name) => {
      const { store: stored, close } = await STORES[name]!();
      try {
        const store = new UpcastingEventStore(stored, upcasters);
        for (const { streams, states } of changed) {
          const before = await stored.head();
          const all = Object.values(streams).flat();
          for (const event of all) await stored.append(event.stream, 'any', [inOlderShape(event)], event.metadata);
          const subscribed = await take(store, before, all.length);
          expect(subscribed.map(plain)).toEqual(all.map(plain));
          for (const [stream, events] of Object.entries(streams)) {
            const read = await store.read(stream);
            expect(read.map(plain)).toEqual(events.map(plain));
            expect(await store.at(read.at(-1)!.position)).toEqual(read.at(-1));
            const raw = await stored.read(stream);
            expect(raw.map(plain)).toEqual(events.map(inOlderShape));
            expect(chain(read)).toBe(chain(raw));
            streams[stream] = read.map(({ type, data }, at) => ({ ...events[at]!, type, data }));
          }
          expect(statesOf(models, streams)).toEqual(states);
        }
      } finally {
        await close();
      }
    });

    it('are in the recorded histories', () => expect(changed).not.toEqual([]));
  });

  function isChanged(event: Recorded): boolean {
    return event.type === type && JSON.stringify(inOlderShape(event).data) !== JSON.stringify(event.data);
  }

  function inOlderShape(event: DomainEvent): DomainEvent<EventType> {
    const data = event.type === type ? older(event.data as Record<string, unknown>) : event.data;
    return { type: event.type, data };
  }
}

function plain({ type, data }: DomainEvent): DomainEvent {
  return { type, data };
}

function byStream(events: readonly Recorded[]): Record<string, Recorded[]> {
  const streams: Record<string, Recorded[]> = {};
  for (const event of events) (streams[event.stream] ??= []).push(event);
  return streams;
}

/** Folded states of the streams that have a model, as JSON; a map as the list of its entries. */
function statesOf(models: Models, streams: Record<string, Recorded[]>): unknown {
  const folded = Object.entries(streams).flatMap(([stream, events]) => {
    const model = models[categoryOf(stream)];
    return model ? [[stream, fold(model, events)]] : [];
  });
  const json = JSON.stringify(Object.fromEntries(folded), (_, value: unknown) =>
    value instanceof Map ? [...(value as Map<unknown, unknown>)] : value,
  );
  return JSON.parse(json);
}
