// The test files that take longest come first, so that no worker is left alone with one at the end; the others follow as
// Jest would have them.
const { default: Sequencer } = require('@jest/test-sequencer');

const LONGEST = [
  'tools/faults/src/faults',
  'apps/cluster/src/cluster',
  'apps/e2e/src/standalone',
  'apps/e2e/src/fuzz',
  'apps/e2e/src/kill',
  'apps/e2e/src/eventstoredb',
  'apps/e2e/src/webhooks.kill',
  'apps/e2e/src/docs',
  'libs/postgres/src/embedded',
  'apps/e2e/src/langgraph-cli',
  'libs/eventing/src/kafka/kafka.faults',
  'libs/rollouts/src/rollouts',
  'tools/migrate-store/src/migrate-store',
  'apps/e2e/src/reads',
  'libs/eventing/src/eventstoredb/faults',
  'libs/eventing/src/testing/esdb-double',
].map((name) => `/${name}.spec.ts`);

module.exports = class extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = LONGEST.findIndex((name) => path.endsWith(name));
      return found < 0 ? LONGEST.length : found;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
};
