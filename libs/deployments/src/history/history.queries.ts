import { actorNames, EventStore, type Recorded, streamName } from '@fairlead/eventing';
import type { Infer } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { commandEntry, HistoryFold, readingEntry } from '../model/audit';
import type { CommandEvent, DeploymentEvent, SecretsRead } from '../model/deployment-events';
import { DeploymentNotFound } from '../model/deployment.errors';
import type { historyQuery } from '../deployment/deployment.schema';

/** The events of a stream that were read last, and the fold of those before them. */
interface NewestPart {
  readonly fold: HistoryFold;
  events: readonly Recorded<DeploymentEvent>[];
}

/** An event of a stream beside that of the deployment. */
type BesideEvent = Recorded<SecretsRead> | Recorded<CommandEvent>;

/** Positions of the events of a deployment, in no order, and what is needed to show them. */
interface Places {
  readonly places: { readonly position: bigint; readonly type: string }[];
  readonly beside: readonly BesideEvent[];
  readonly newest: NewestPart;
}

type Query = Infer<typeof historyQuery>;

/** Reads the histories of deployments from their streams, also after their removal. */
@Injectable()
export class HistoryQueries {
  constructor(private readonly store: EventStore) {}

  /** A page of a history, and the number of all entries that match. @throws DeploymentNotFound */
  async list(tenantId: string, id: string, query: Query) {
    const read = await this.placesOf(tenantId, id, query);
    const { types, order } = query;
    const found = read.places.filter(({ type }) => types?.includes(type) ?? true);
    found.sort((a, b) => (a.position < b.position ? -1 : 1));
    if (order === 'desc') found.reverse();
    const page = found.slice(query.offset, query.offset + query.limit).map(({ position }) => position);
    const entries = await this.entriesAt(tenantId, id, page, read);
    const actors = entries.map(({ actor }) => actor);
    const names = await actorNames(this.store, actors);
    const resources = entries.map(({ actor, ...entry }) => {
      return { ...entry, actor, actor_name: names.get(actor) ?? null };
    });
    return { resources, offset: query.offset + page.length, total: found.length };
  }

  /** The events of a deployment of a tenant. @throws DeploymentNotFound before the first part */
  async *eventsOf(tenantId: string, id: string): AsyncGenerator<Recorded<DeploymentEvent>[]> {
    let isFound = false;
    for await (const events of this.store.parts(streamName('deployment', id))) {
      const [first] = events as Recorded<DeploymentEvent>[];
      isFound ||= first!.type === 'DeploymentCreated' && first!.data.tenant_id === tenantId;
      if (!isFound) break;
      yield events as Recorded<DeploymentEvent>[];
    }
    if (!isFound) throw new DeploymentNotFound(id);
  }

  /** The places of all events but those up to the one that made the version `after`. */
  private async placesOf(tenantId: string, id: string, query: Query): Promise<Places> {
    const beside = await this.eventsBeside(id);
    const places = beside.map(({ position, type }): Places['places'][number] => ({ position, type }));
    let after = 0n;
    const newest: NewestPart = { fold: new HistoryFold(), events: [] };
    for await (const events of this.eventsOf(tenantId, id)) {
      for (const event of newest.events) newest.fold.take(event, false);
      newest.events = events;
      for (const { position, type, version } of events) {
        places.push({ position, type });
        // Without an event of this version, what came after the newest one is asked for.
        if (query.after !== undefined && version <= query.after) after = position;
      }
    }
    return { places: places.filter(({ position }) => position > after), beside, newest };
  }

  /**
   * The history entries at some positions. The events of a long history are never in memory together: all are read
   * again when a position is before its newest part.
   */
  private async entriesAt(tenantId: string, id: string, positions: readonly bigint[], { beside, newest }: Places) {
    const wanted = new Set(positions);
    const entries = new Map(
      beside
        .filter(({ position }) => wanted.has(position))
        .map((event) => [event.position, isReading(event) ? readingEntry(event) : commandEntry(event)]),
    );
    const isNew = positions.every((position) => position >= newest.events[0]!.position || entries.has(position));
    const fold = isNew ? newest.fold : new HistoryFold();
    for await (const events of isNew ? [newest.events] : this.eventsOf(tenantId, id)) {
      for (const event of events) {
        const entry = fold.take(event, wanted.has(event.position));
        if (entry) entries.set(event.position, entry);
      }
    }
    return positions.map((position) => entries.get(position)!);
  }

  /** Readings of the secrets of a deployment, and commands that ran beside its program. */
  private async eventsBeside(id: string): Promise<BesideEvent[]> {
    const streams = ['secretAccess', 'command'].map((category) => this.store.read(streamName(category, id)));
    return (await Promise.all(streams)).flat() as BesideEvent[];
  }
}

function isReading(event: BesideEvent): event is Recorded<SecretsRead> {
  return event.type === 'SecretsRead';
}
