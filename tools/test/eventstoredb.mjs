// `npm run test:eventstoredb`: what every event store promises, of a real EventStoreDB at EVENTSTORE_TEST_URL.
if (!process.env.EVENTSTORE_TEST_URL) {
  console.error(
    'Nothing was tested: EVENTSTORE_TEST_URL names no EventStoreDB. Set it to the address of one that is there for tests,' +
      ' e.g. esdb://127.0.0.1:2113?tls=false; events are added to its log.',
  );
  process.exit(2);
}
process.argv.push('libs/eventing/src/eventstoredb-event-store.spec.ts');
await import('./test.mjs');
