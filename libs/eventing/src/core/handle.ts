import type { EventType } from '@fairlead/contracts';
import { PreconditionFailed, Recent, weightOf } from '@fairlead/schema';
import { chain } from './chain';
import { categoryOf, type DomainEvent, type Metadata, type Recorded } from './event';
import { type EventStore, VersionConflict } from './event-store';
import { fold, type Model } from './model';
import { newId } from './new-id';
import { inTurn } from './turns';

/**
 * The result of a command: the state and version after it, and the events that it wrote (none when nothing changed).
 */
export interface Handled<State, E extends DomainEvent> {
  readonly state: State;
  readonly version: number;
  /** Position of the stream's newest event, 0 for an empty stream. */
  readonly position: bigint;
  readonly events: readonly Recorded<E>[];
}

/** A request with an Idempotency-Key. Its ids are the same when it is repeated after a crash. */
export interface Command {
  /** True when another attempt may have appended events already. */
  readonly mayBeRepeated: boolean;
  /** Number of changes that this attempt has made to each stream. */
  readonly changes: Map<string, number>;
  /** Returns the UUID for a purpose, the same one in every attempt; those of one purpose sort by `nth`. */
  idFor(purpose: string, nth?: number): string;
}

/** `If-Match` names another edition (or version) than the current one of the resource. */
export class VersionMismatch extends PreconditionFailed {
  constructor(
    readonly stream: string,
    readonly expected: number,
    readonly actual: number,
  ) {
    super();
  }
}

interface Folded {
  readonly model: object;
  readonly state: unknown;
  readonly version: number;
  readonly position: bigint;
  readonly hash: string;
  /** Commands of the stream, at least those up to `version`. */
  readonly commands: KnownCommands;
}

/** Folds that are kept: their number, and their bytes, because clients decide how large a state is. */
const FOLDS_KEPT = 4000;
const FOLDS_WEIGHT = {
  bytes: 128 * 1024 * 1024,
  of: ({ state, commands }: Folded) => weightOf(state as object | null) + commands.weight,
};
const folds = new WeakMap<EventStore, Recent<Folded>>();
const numbers = new WeakMap<object, number>();
let numbered = 0;
/** Models whose folds were kept, by the category of their streams. */
const modelsOf = new Map<string, Set<object>>();

/**
 * Runs a command against a stream: read, fold, decide, append.
 *
 * `decide` is pure and may run more than once. It throws to refuse, and returns no events when nothing changes. After a
 * conflict, it decides again on the newer state. With `ifMatch`, another edition is refused; the version of the stream
 * is the edition where the model has none. When the stream already contains the command, nothing is appended, and the
 * result is that of the first attempt. The command of a request is known by the ids of its events; that of a consumer,
 * which no request caused, by its tenant and `metadata.causationId`.
 * @throws VersionMismatch when `ifMatch` is given and the resource is at another edition.
 */
export async function handle<State, E extends DomainEvent<EventType>>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  decide: (state: State, version: number) => readonly E[],
  metadata: Metadata,
  ifMatch?: number,
  command?: Command,
): Promise<Handled<State, E>> {
  const handled = await inTurn(store, stream, () => attempt(store, model, stream, decide, metadata, ifMatch, command));
  command?.changes.set(stream, (command.changes.get(stream) ?? 0) + 1);
  return handled;
}

async function attempt<State, E extends DomainEvent<EventType>>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  decide: (state: State, version: number) => readonly E[],
  metadata: Metadata,
  ifMatch: number | undefined,
  command: Command | undefined,
): Promise<Handled<State, E>> {
  // A remembered fold, or that of a stream without events, may be behind the stream: enough to append on, which the store
  // refuses then, never enough to refuse or to change nothing on.
  let current = remembered(store, model, stream) ?? unread(model);
  let fresh = false;
  for (;;) {
    const repeated = command
      ? command.mayBeRepeated && (await repeatedRequest(store, model, stream, command))
      : await repeatedConsumer(store, model, stream, current, metadata);
    if (repeated) return repeated;
    if (ifMatch !== undefined && editionOf(model, current) !== ifMatch) {
      if (fresh) throw new VersionMismatch(stream, ifMatch, editionOf(model, current));
      current = await refreshed(store, model, stream, current);
      fresh = true;
      continue;
    }
    const state = current.state as State;
    let decided: readonly E[] = [];
    let refusal: unknown;
    try {
      decided = decide(state, current.version);
    } catch (error) {
      refusal = error;
    }
    if (decided.length === 0) {
      if (!fresh) {
        current = await refreshed(store, model, stream, current);
        fresh = true;
        continue;
      }
      if (refusal !== undefined) throw refusal as Error;
      return { state, version: current.version, position: current.position, events: [] };
    }
    const events = decided.map((event, nth) => ({ ...event, id: command ? eventId(command, stream, nth) : newId() }));
    const linked = current.version === 0 ? metadata : { ...metadata, previous: current.hash };
    try {
      const appended = await store.append(stream, current.version, events, linked);
      // Another attempt, in another process, may have appended these ids with other data.
      const own = command?.mayBeRepeated && (await repeatedRequest(store, model, stream, command));
      if (own) return own;
      const recorded = events.map((event, index) => {
        const behind = events.length - 1 - index;
        const version = appended.version - behind;
        // Of the events before the last one only that they stand before it is known.
        const { position, time } = appended;
        return store.appended({ ...event, stream, version, position, time, metadata: linked });
      }) as Recorded<E>[];
      const after = fold(model, recorded, state);
      const { version, position } = appended;
      const { commands } = current;
      commands.add(recorded);
      const hash = chain(recorded, current.hash);
      rememberForOthers(store, stream, current, recorded, hash);
      remember(store, stream, { model, state: after, version, position, hash, commands });
      return { state: after, version, position, events: recorded };
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      current = await refreshed(store, model, stream, current);
      fresh = true;
    }
  }
}

function editionOf<State, E extends DomainEvent>(model: Model<State, E>, { state, version }: Folded): number {
  return model.edition?.(state as State) ?? version;
}

/**
 * Returns the current state and version of a stream (version 0 when it has no events). With `seen`, events of the
 * stream in their order, the state includes at least these; the stream is read only when events before them are
 * unknown.
 */
export async function load<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  seen: readonly Recorded[] = [],
): Promise<{ state: State; version: number; position: bigint }> {
  const known = remembered(store, model, stream) ?? unread(model);
  const newer = seen.filter(({ version }) => version > known.version) as Recorded<E>[];
  if (seen.length > 0 && newer.every(({ version }, index) => version === known.version + 1 + index)) {
    const { version, position } = newer.at(-1) ?? known;
    return { state: fold(model, newer, known.state as State), version, position };
  }
  const current = await refreshed(store, model, stream, known);
  return { state: current.state as State, version: current.version, position: current.position };
}

/**
 * Returns the state and version of a stream as this process remembers them: with all events that it has read or
 * appended, as a whole append each. Events of other processes may be missing; the stream is read when nothing is
 * remembered, or less than `version` events.
 */
export async function recall<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  version = 0,
): Promise<{ state: State; version: number; position: bigint }> {
  const known = remembered(store, model, stream);
  if (!known || known.version < version) return load(store, model, stream);
  return { state: known.state as State, version: known.version, position: known.position };
}

/** Returns the result of an earlier attempt of a request; undefined when the stream does not contain it. */
export function repeatedRequest<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  command: Command,
): Promise<Handled<State, E> | undefined> {
  return find(store, model, stream, ({ id }, nth) => id === eventId(command, stream, nth));
}

function eventId(command: Command, stream: string, nth: number): string {
  return command.idFor(`${stream} ${command.changes.get(stream) ?? 0}`, nth);
}

/**
 * Returns the result of a consumer's command whose events are already in `seen`; the stream is read only where it may
 * contain them.
 */
async function repeatedConsumer<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  seen: Folded,
  command: Metadata,
): Promise<Handled<State, E> | undefined> {
  if (!seen.commands.mayHold(command)) return undefined;
  const key = keyOf(command);
  // Another tenant's event of the same id is another command, and must learn nothing of this stream.
  return find(store, model, stream, ({ metadata }) => keyOf(metadata) === key);
}

/** Returns the result of the command whose events are `own`; `nth` is the number of those before. */
async function find<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  own: (event: Recorded<E>, nth: number) => boolean,
): Promise<Handled<State, E> | undefined> {
  let state = model.initial;
  let found: Handled<State, E> | undefined;
  for await (const part of store.parts(stream)) {
    for (const event of part as Recorded<E>[]) {
      state = model.evolve(state, event);
      const { version, position } = event;
      if (own(event, found?.events.length ?? 0))
        found = { state, version, position, events: [...(found?.events ?? []), event] };
    }
  }
  return found;
}

async function refreshed<State, E extends DomainEvent>(
  store: EventStore,
  model: Model<State, E>,
  stream: string,
  from: Folded,
): Promise<Folded> {
  let folded = from;
  for await (const events of store.parts(stream, from.version)) {
    const { version, position } = events.at(-1)!;
    const state = fold(model, events, folded.state as State);
    folded.commands.add(events);
    folded = { ...folded, model, state, version, position, hash: chain(events, folded.hash) };
  }
  if (folded !== from) remember(store, stream, folded);
  return folded;
}

function unread<State, E extends DomainEvent>(model: Model<State, E>): Folded {
  return { model, state: model.initial, version: 0, position: 0n, hash: '', commands: new KnownCommands() };
}

function remembered(store: EventStore, model: object, stream: string): Folded | undefined {
  return folds.get(store)?.get(foldOf(model, stream));
}

function remember(store: EventStore, stream: string, folded: Folded): void {
  let kept = folds.get(store);
  if (!kept) folds.set(store, (kept = new Recent<Folded>(FOLDS_KEPT, FOLDS_WEIGHT)));
  const name = foldOf(folded.model, stream);
  const known = kept.get(name);
  if (known && known.version > folded.version) return;
  kept.set(name, folded);
  const category = categoryOf(stream);
  const models = modelsOf.get(category);
  if (models) models.add(folded.model);
  else modelsOf.set(category, new Set([folded.model]));
}

/** Adds what was appended to the folds that other models have of the stream, if these have all events before it. */
function rememberForOthers(
  store: EventStore,
  stream: string,
  { model, version: before }: Folded,
  appended: readonly Recorded[],
  hash: string,
): void {
  for (const other of modelsOf.get(categoryOf(stream)) ?? []) {
    const known = other === model ? undefined : folds.get(store)?.get(foldOf(other, stream));
    if (known?.version !== before) continue;
    known.commands.add(appended);
    const { version, position } = appended.at(-1)!;
    const state = fold(other as Model<unknown, DomainEvent>, appended, known.state);
    remember(store, stream, { ...known, state, version, position, hash });
  }
}

/**
 * Returns the key of a fold. One stream may have several: services fold streams of each other with models of their own.
 */
function foldOf(model: object, stream: string): string {
  const number = numbers.get(model) ?? numbered++;
  numbers.set(model, number);
  return `${number} ${stream}`;
}

/** Commands that are remembered of a stream, the newest ones; for older ones the stream is read. */
const COMMANDS_KEPT = 500;
const KEY_BYTES = 200;

/** Remembers which commands of consumers a stream contains, if its events were seen from the first one on. */
class KnownCommands {
  private readonly kept = new Set<string>();
  private hasForgotten = false;

  get weight(): number {
    return this.kept.size * KEY_BYTES;
  }

  add(events: readonly Pick<Recorded, 'metadata'>[]): void {
    for (const { metadata } of events) {
      const key = keyOf(metadata);
      if (key !== undefined) this.kept.add(key);
    }
    while (this.kept.size > COMMANDS_KEPT) {
      this.kept.delete(this.kept.values().next().value!);
      this.hasForgotten = true;
    }
  }

  /** Returns false when the events seen so far contain no command with this metadata; true when they may. */
  mayHold(metadata: Recorded['metadata']): boolean {
    const key = keyOf(metadata);
    return key !== undefined && (this.hasForgotten || this.kept.has(key));
  }
}

/**
 * Returns the key of a consumer's command: its id and tenant, since two tenants may use the same id; undefined for a
 * request, which may name any id.
 */
function keyOf({ causationId, tenant, request }: Recorded['metadata']): string | undefined {
  return causationId === undefined || request !== undefined ? undefined : JSON.stringify([tenant, causationId]);
}
