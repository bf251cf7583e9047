import type { RecordedEvent } from '@eventstore/db-client';
import { isOurs, positionOf, toEvent, versionOf } from './event';

const event = (members: object) =>
  ({
    id: 'i',
    streamId: 'note-1',
    type: 'Noted',
    data: {},
    revision: 0n,
    position: { commit: 5n, prepare: 5n },
    created: new Date(0),
    isJson: true,
    ...members,
  }) as unknown as RecordedEvent;

it.each([[2n ** 64n - 1n], [2n ** 63n - 1n], [2n ** 63n], [-1n], [undefined]])('%s is no position', (said) => {
  expect(positionOf(said)).toBeUndefined();
});

it.each([[2n ** 64n - 1n], [2n ** 63n - 1n], [2n ** 53n - 1n], [-1n]])('%s is the revision of no event', (revision) => {
  expect(versionOf(revision)).toBeUndefined();
  expect(isOurs(event({ revision }))).toBe(false);
});

it('takes places that can be for what they are', () => {
  expect([positionOf(0n), positionOf(2n ** 63n - 2n), versionOf(0n), versionOf(41n)]).toEqual([
    0n,
    2n ** 63n - 2n,
    1,
    42,
  ]);
});

it.each([['yesterday'], [7], ['2026-13-41T00:00:00.000Z'], ['2026-01-01'], [null]])(
  'takes %j in the metadata for no time',
  (originalTime) => {
    expect(toEvent(event({ metadata: { originalTime } })).time).toBe('1970-01-01T00:00:00.000Z');
  },
);
