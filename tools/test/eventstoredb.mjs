// `npm run test:eventstoredb`: what every event store promises, and the main job through HTTP, with a real and new
// EventStoreDB at EVENTSTORE_TEST_URL; in the end it says what was written to that server.
import { EventStoreDBClient, START } from '@eventstore/db-client';

const url = process.env.EVENTSTORE_TEST_URL;
if (!url) {
  refuse(
    'Nothing was tested: EVENTSTORE_TEST_URL names no EventStoreDB. Set it to the address of a new one that is there for' +
      ' tests, e.g. esdb://127.0.0.1:2113?tls=false; events are added to its log.',
  );
}
const client = connect();
const found = (await written().catch((error) => refuse(`Nothing was tested: ${error.message}`))).size;
if (found > 0) {
  refuse(
    `Nothing was tested: the server holds events already (in ${found} categories of streams). Fairlead would take them` +
      ' for its own: set EVENTSTORE_TEST_URL to the address of a new one.',
  );
}
process.argv.push(
  'libs/eventstoredb/src/event-store.spec.ts',
  'apps/e2e/src/log/eventstoredb-job.spec.ts',
  '--runInBand',
);
await import('./test.mjs');
const categories = [...(await written())].sort(([one], [other]) => one.localeCompare(other));
const sum = (of) => categories.reduce((total, [, counted]) => total + of(counted), 0);
console.log(
  `Written to ${hosts(url)}: ${sum(({ events }) => events)} events in` +
    ` ${sum(({ streams }) => streams.size)} streams; four streams of deployments were deleted or cut off. By the beginning of their names:`,
);
for (const [category, { streams, events }] of categories) {
  console.log(
    `  ${category}-…: ${events} events in ${streams.size} streams${category === 'note' ? ' (the contract)' : ''}`,
  );
}
await client.dispose();

/** The nodes of an address, without user, password and options; the address may list several. */
function hosts(address) {
  return address.replace(/^[^:]*:\/\/(?:.*@)?/, '').replace(/[/?].*$/, '');
}

function connect() {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    return refuse(`Nothing was tested: EVENTSTORE_TEST_URL is no address of EventStoreDB: ${error.message}`);
  }
}

/** Events and streams by category, without the server's own. */
async function written() {
  const counted = new Map();
  for await (const { event } of client.readAll({ fromPosition: START })) {
    if (!event || event.streamId.startsWith('$') || event.type.startsWith('$')) continue;
    const category = event.streamId.split('-', 1)[0];
    const { streams, events } = counted.get(category) ?? { streams: new Set(), events: 0 };
    counted.set(category, { streams: streams.add(event.streamId), events: events + 1 });
  }
  return counted;
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(2);
}
