import type { EventType } from '@fairlead/contracts';
import { type DomainEvent, idOf, type Metadata, type Recorded, streamName } from './event';
import type { EventStore } from './event-store';
import { type Command, handle, type Handled, load, repeatedRequest } from './handle';
import type { Model } from './model';
import { holder, release, reserveName } from './reservation';

/** The caller of a command. `CommandContext`, the context of a request, is one. */
export interface Caller {
  readonly tenantId: string;
  readonly metadata: Metadata;
  /** The command of a request with an Idempotency-Key. */
  readonly command?: Command;
  /**
   * Returns the edition that a change may start from; undefined for any. @throws PreconditionFailed when `If-Match` can
   * match none
   */
  expectedVersion(): number | undefined;
}

/** Returns a caller for work that a part of the service does by itself, in the tenant of the metadata. */
export function serviceCaller(metadata: Metadata): Caller {
  return { tenantId: metadata.tenant ?? '', metadata, expectedVersion: () => undefined };
}

export interface Owned {
  readonly tenant_id: string;
  /** True once the aggregate has been removed. Callers then get the same error as for one that never existed. */
  readonly removed: boolean;
}

/**
 * A kind of aggregate: the category of its streams, its model, and the error for an aggregate that the caller does not
 * own.
 */
export interface Aggregate<State extends Owned, E extends DomainEvent<EventType>> {
  readonly category: string;
  readonly model: Model<State | null, E>;
  readonly notFound: (id: string) => Error;
  /** True for a kind whose responses have no editions: `If-Match` is ignored. */
  readonly withoutEditions?: boolean;
}

export interface Found<State> {
  readonly state: State;
  readonly version: number;
  /** The number in its ETag: the edition of the model, or the version of the stream where the model has no editions. */
  readonly edition: number;
  readonly position: bigint;
}

export interface Changed<State, E extends DomainEvent> extends Found<State> {
  readonly events: readonly Recorded<E>[];
}

/**
 * Turns a decision about an aggregate of one tenant into a decision about any state.
 * @throws the aggregate's own error when it does not exist, was removed, or belongs to another tenant
 */
export function owned<State extends Owned, T>(
  { notFound }: { readonly notFound: (id: string) => Error },
  tenantId: string,
  id: string,
  decide: (state: State) => T,
): (state: State | null) => T {
  return (state) => {
    if (!state || state.removed || state.tenant_id !== tenantId) throw notFound(id);
    return decide(state);
  };
}

/** Finds and changes the aggregates of one kind: ownership, `If-Match` and metadata are the same for all kinds. */
export class AggregateCommands<State extends Owned, E extends DomainEvent<EventType>> {
  constructor(
    protected readonly store: EventStore,
    private readonly aggregate: Aggregate<State, E>,
  ) {}

  async find(tenantId: string, id: string): Promise<Found<State>> {
    const loaded = await load(this.store, this.aggregate.model, this.stream(id));
    const state = this.owned(tenantId, id, (own) => own)(loaded.state);
    return { ...loaded, state, edition: this.editionOf(state, loaded.version) };
  }

  /**
   * Changes an aggregate of the caller's tenant. `decide` is pure and may run more than once.
   * @throws the aggregate's `notFound`, VersionMismatch, and what `decide` throws
   */
  async change(caller: Caller, id: string, decide: (state: State) => readonly E[]): Promise<Changed<State, E>> {
    const expected = this.aggregate.withoutEditions ? undefined : caller.expectedVersion();
    return this.run(caller, id, this.owned(caller.tenantId, id, decide), expected);
  }

  /** Changes an aggregate after asynchronous work, such as encrypting a secret: `prepare` returns the decision. */
  async changePrepared(
    caller: Caller,
    id: string,
    prepare: (state: State) => Promise<(state: State) => readonly E[]>,
  ): Promise<Changed<State, E>> {
    const { state } = await this.find(caller.tenantId, id);
    return this.change(caller, id, await prepare(state));
  }

  /** Runs a decision without a check of ownership: one that creates, or that follows another service's event. */
  async run(
    { metadata, command }: Pick<Caller, 'metadata' | 'command'>,
    id: string,
    decide: (state: State | null) => readonly E[],
    expected?: number,
  ): Promise<Changed<State, E>> {
    const { model } = this.aggregate;
    return this.changed(await handle(this.store, model, this.stream(id), decide, metadata, expected, command));
  }

  /** Returns what an earlier attempt of the request has made of an aggregate; undefined when it has changed nothing. */
  async repeated({ command }: Caller, id: string): Promise<Changed<State, E> | undefined> {
    if (!command?.mayBeRepeated) return undefined;
    const found = await repeatedRequest(this.store, this.aggregate.model, this.stream(id), command);
    return found && this.changed(found);
  }

  /**
   * Reserves a name for an aggregate. The name of one that was removed is free; that of one for which `uses` returns false,
   * because it has been renamed, becomes free after a minute.
   * @throws `taken` when another one has it, whose id it is called with
   */
  reserve(
    name: string,
    id: string,
    { metadata }: Pick<Caller, 'metadata'>,
    taken: (id: string) => Error,
    uses: (state: State) => boolean = () => true,
  ): Promise<void> {
    const isGone = async (owner: string) => {
      const state = await this.stateOf(idOf(owner));
      return state !== null && (state.removed || (!uses(state) && 'unused'));
    };
    const reservation = { metadata, taken: (owner: string) => taken(idOf(owner)) };
    return reserveName(this.store, name, this.stream(id), isGone, reservation);
  }

  /**
   * Refuses a name that another aggregate than `own` has and uses; nothing is written. A name that its owner no longer
   * uses is left to `reserve`, which lets others have it after a minute. @throws `taken`
   */
  async checkFree(
    name: string,
    taken: (id: string) => Error,
    own?: string,
    uses: (state: State) => boolean = () => true,
  ): Promise<void> {
    const found = await this.holderOf(name);
    if (found?.state && found.id !== own && uses(found.state)) throw taken(found.id);
  }

  /** Returns who holds a name, unless it was removed; the state is null while it is being created. */
  async holderOf(name: string): Promise<{ readonly id: string; readonly state: State | null } | undefined> {
    const owner = await holder(this.store, name);
    if (owner === undefined) return undefined;
    const state = await this.stateOf(idOf(owner));
    return state?.removed ? undefined : { id: idOf(owner), state };
  }

  release(name: string, id: string, { metadata }: Pick<Caller, 'metadata'>): Promise<void> {
    return release(this.store, name, this.stream(id), metadata);
  }

  /** Returns the state of an aggregate of any tenant; null before it was created. */
  async stateOf(id: string): Promise<State | null> {
    return (await load(this.store, this.aggregate.model, this.stream(id))).state;
  }

  protected stream(id: string): string {
    return streamName(this.aggregate.category, id);
  }

  protected owned<T>(tenantId: string, id: string, decide: (state: State) => T): (state: State | null) => T {
    return owned<State, T>(this.aggregate, tenantId, id, decide);
  }

  private changed(handled: Handled<State | null, E>): Changed<State, E> {
    const state = handled.state!;
    return { ...handled, state, edition: this.editionOf(state, handled.version) };
  }

  private editionOf(state: State, version: number): number {
    return this.aggregate.model.edition?.(state) ?? version;
  }
}
