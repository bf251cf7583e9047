import type { DomainEvent, Recorded } from './event';

/** A state and how events change it. `evolve` is pure: the same events always give the same state. */
export interface Model<State, E extends DomainEvent> {
  readonly initial: State;
  evolve(state: State, event: Recorded<E>): State;
  /** Returns the number that `If-Match` is compared with. Without this function, it is the version of the stream. */
  edition?(state: State): number;
}

export function fold<State, E extends DomainEvent>(
  model: Model<State, E>,
  events: readonly Recorded[],
  from: State = model.initial,
): State {
  return (events as readonly Recorded<E>[]).reduce((state, event) => model.evolve(state, event), from);
}
