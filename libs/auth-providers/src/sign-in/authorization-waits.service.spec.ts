import { currentReading, reading, type Reading } from '@fairlead/postgres';
import type { AuthorizationStore } from './authorization.store';
import { AuthorizationWaits } from './authorization-waits.service';

it('looks for all that wait outside of the request that began to wait first', async () => {
  const asked: (Reading | undefined)[] = [];
  const store = {
    ended: (ids: readonly string[]) => {
      asked.push(currentReading());
      return Promise.resolve([...ids]);
    },
  } as AuthorizationStore;
  const { signal } = new AbortController();
  const waits = new AuthorizationWaits(store);
  await reading({ owner: 'a', signal }, () => waits.ended('first', 60_000, signal));
  expect(asked).toEqual([undefined]);
});
