import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { KafkaMessage } from 'kafkajs';
import type { Consumers } from '../consumers/consumers';
import type { Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import { type Pointer, toPointer } from './message';

const RETRY_MS = { first: 100, most: 2000 };
/** Reads of a stream until an event that is not in it counts as one that does not exist. */
const LOOKS = 5;

interface Found {
  readonly offset: string;
  readonly event: Recorded | undefined;
}

export class KafkaReceiver {
  private readonly logger = new Logger('KafkaReceiver');
  private readonly types = new Set<string>();

  constructor(
    private readonly group: string,
    private readonly store: EventStore,
    private readonly consumers: Consumers,
  ) {}

  /** From now on events of this type are handed to the consumer `<group>.<type>`; others are passed over. */
  accept(type: string): void {
    this.types.add(type);
  }

  /**
   * Deals with messages of one partition in their order; after each run of one type tells `passed` how far it has come.
   * While the database is away it waits and tries again. Returns early once `goesOn` says no.
   */
  async receive(
    messages: readonly Pick<KafkaMessage, 'offset' | 'headers'>[],
    goesOn: () => boolean,
    passed: (offset: string) => void,
  ): Promise<void> {
    const found = await this.untilItSucceeds(goesOn, () => this.find(messages));
    for (const run of runs(found ?? [])) {
      if (!goesOn()) return;
      const events = run.flatMap(({ event }) => event ?? []);
      const type = events[0]?.type;
      if (type !== undefined) {
        const deliver = () => this.consumers.deliver(`${this.group}.${type}`, events, goesOn);
        if (!(await this.untilItSucceeds(goesOn, deliver))) return;
      }
      passed(run.at(-1)!.offset);
    }
  }

  /** The events that the messages tell of, as far as they have a consumer. Each stream is read once. */
  private async find(messages: readonly Pick<KafkaMessage, 'offset' | 'headers'>[]): Promise<Found[]> {
    const pointers = messages.map(({ offset, headers }) => ({ offset, pointer: this.accepted(toPointer(headers)) }));
    const wanted = new Map<string, Set<number>>();
    for (const { pointer } of pointers) {
      if (!pointer) continue;
      wanted.set(pointer.stream, (wanted.get(pointer.stream) ?? new Set()).add(pointer.version));
    }
    const streams = new Map<string, Recorded[]>();
    for (const [stream, versions] of wanted) streams.set(stream, await this.versionsOf(stream, versions));
    const found: Found[] = [];
    for (const { offset, pointer } of pointers) {
      const event = pointer && (this.pick(streams.get(pointer.stream), pointer) ?? (await this.look(pointer)));
      found.push({ offset, event });
    }
    return found;
  }

  private async versionsOf(stream: string, versions: ReadonlySet<number>): Promise<Recorded[]> {
    const found: Recorded[] = [];
    const [first, last] = [Math.min(...versions), Math.max(...versions)];
    for await (const events of this.store.parts(stream, first - 1)) {
      found.push(...events.filter(({ version }) => versions.has(version)));
      if (events.at(-1)!.version >= last) break;
    }
    return found;
  }

  private accepted(pointer: Pointer | undefined): Pointer | undefined {
    return pointer && this.types.has(pointer.type) ? pointer : undefined;
  }

  private pick(events: readonly Recorded[] | undefined, { id, version }: Pointer): Recorded | undefined {
    return events?.find((event) => event.version === version && event.id === id);
  }

  /** An event that a replica of the store may not have yet. One that never appears is not of this installation. */
  private async look(pointer: Pointer): Promise<Recorded | undefined> {
    for (let n = 0; n < LOOKS; n++) {
      await delay(RETRY_MS.first);
      const event = this.pick(await this.versionsOf(pointer.stream, new Set([pointer.version])), pointer);
      if (event) return event;
    }
    const { type, stream, version } = pointer;
    this.logger.error(`A message tells of ${type} as version ${version} of ${stream}, which the store does not hold.`);
    return undefined;
  }

  private async untilItSucceeds<T>(goesOn: () => boolean, work: () => Promise<T>): Promise<T | undefined> {
    for (let pause = RETRY_MS.first; goesOn(); pause = Math.min(2 * pause, RETRY_MS.most)) {
      try {
        return await work();
      } catch (error) {
        this.logger.warn(`${this.group} waits: ${(error as Error).message}`);
        await delay(pause);
      }
    }
    return undefined;
  }
}

/** Neighbours of one type; what has no consumer belongs to the run before it. */
function* runs(found: readonly Found[]): Iterable<Found[]> {
  let run: Found[] = [];
  let type: string | undefined;
  for (const one of found) {
    if (one.event && type !== undefined && one.event.type !== type) {
      yield run;
      run = [];
    }
    type = one.event?.type ?? type;
    run.push(one);
  }
  if (run.length > 0) yield run;
}
