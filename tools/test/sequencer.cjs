// The test files that take longest come first, so that no worker is left alone with one at the end, but for the two with
// the most processes, which do not run beside each other; the others follow as Jest would have them.
const { default: Sequencer } = require('@jest/test-sequencer');

const LONGEST = [
  'apps/cluster/src/cluster',
  'apps/e2e/src/docs',
  'apps/e2e/src/standalone',
  'apps/e2e/src/kill',
  'apps/e2e/src/foreign-ids',
  'apps/e2e/src/eventstoredb',
  'libs/eventing/src/kafka/kafka.faults',
  'libs/postgres/src/embedded/embedded',
  'libs/rollouts/src/rollouts',
  'tools/faults/src/faults',
  'apps/e2e/src/langgraph-cli',
  'apps/e2e/src/webhooks.kill',
  'libs/eventing/src/kafka/kafka',
  'apps/e2e/src/alike',
  'tools/admin/src/replay/from-older-log',
  'apps/cluster/src/kafka',
  'apps/e2e/src/reads',
  'tools/admin/src/migrate-store/migrate-store',
  'tools/admin/src/audit/poison',
  'libs/eventing/src/testing/esdb-double',
  'libs/eventing/src/eventstoredb/faults',
  'apps/e2e/src/kafka',
  'apps/e2e/src/console',
  'apps/cli/src/cli',
  'libs/edge/src/edge',
  'tools/admin/src/audit/attacks',
  'apps/gateway/src/gateway',
  'apps/e2e/src/fuzz',
  'apps/e2e/src/openapi',
  'apps/e2e/src/eventstoredb-job',
  'libs/eventing/src/followers/set-aside',
  'tools/faults/src/soak',
  'libs/auth-providers/src/sign-in/authorization',
  'libs/eventing/src/core/log.property',
  'apps/e2e/src/langsmith-python',
  'tools/faults/src/overload',
  'libs/eventing/src/eventstoredb/catch-up',
  'libs/webhooks/src/deliveries/many-dead-targets',
  'libs/edge/src/reference',
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
