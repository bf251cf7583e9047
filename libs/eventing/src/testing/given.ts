import type { DomainEvent, Metadata, Recorded } from '../core/event';
import { fold, type Model } from '../core/model';

/** Domain events as a store would give them back: one stream, one second apart, starting 2026-01-01T00:00:00Z. */
export function recorded<E extends DomainEvent>(
  events: readonly E[],
  stream = 'test-1',
  metadata: Metadata = {},
): Recorded<E>[] {
  return events.map((event, index) => ({
    ...event,
    id: `00000000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`,
    stream,
    version: index + 1,
    position: BigInt(index + 1),
    time: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    metadata,
  }));
}

/** `given(model, ...past).when(command).then(...events)`, or `.throws(error)`, or `.thenState(check)`. */
export function given<State, E extends DomainEvent>(model: Model<State, E>, ...past: E[]) {
  const history = recorded(past);
  const state = fold(model, history);
  return {
    when(decide: (state: State, version: number) => readonly E[]) {
      const decided = () => decide(state, past.length);
      return {
        /** The command decides exactly these events. */
        then(...expected: E[]) {
          expect(decided()).toEqual(expected);
        },
        /** The command is refused with an error of this class, and message when given. */
        throws(error: new (...args: never[]) => Error, message?: string | RegExp) {
          expect(decided).toThrow(error);
          if (message !== undefined) expect(decided).toThrow(message);
        },
        /** Checks the state once the decided events are folded in. */
        thenState(check: (after: State, events: readonly E[]) => void) {
          const events = decided();
          const all = recorded([...past, ...events]);
          check(fold(model, all.slice(past.length), state), events);
        },
      };
    },
  };
}
