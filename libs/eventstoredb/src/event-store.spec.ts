import { storeContract } from '@fairlead/eventing/testing';
import { EventStoreDbStore } from '.';
import { EventStoreDbDouble } from './testing';

/** A real server to test against; its log is only added to. */
const url = process.env.EVENTSTORE_TEST_URL;

let double: EventStoreDbDouble | undefined;
let store: EventStoreDbStore;
beforeAll(async () => {
  double = url ? undefined : await EventStoreDbDouble.start();
  // The machines that tests run on can be slow.
  store = new EventStoreDbStore(url ?? double!.url, { limits: { attempt: 20_000, total: 60_000 } });
});
afterAll(async () => {
  await store.close();
  await double?.stop();
});

storeContract(url ? 'EventStoreDB' : 'EventStoreDB (double)', () => store);
