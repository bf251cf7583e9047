// The test files that take longest come first, so that no worker is left alone with one at the end; the others follow as
// Jest would have them. Those of the cluster and of the faults start the most processes, so faults comes late enough not
// to run beside cluster.
const { default: Sequencer } = require('@jest/test-sequencer');

const LONGEST = [
  'apps/e2e/src/operations/docs',
  'apps/e2e/src/console/console-checks',
  'apps/cluster/src/cluster',
  'apps/e2e/src/operations/standalone',
  'apps/e2e/src/console/console-frame',
  'apps/cli/src/cli',
  'apps/e2e/src/api/idempotency',
  'libs/executors/src/kubernetes/kubernetes-executor',
  'tools/faults/src/suites/faults',
  'apps/e2e/src/console/console',
  'apps/e2e/src/console/console-local',
  'apps/e2e/src/api/queries',
  'apps/e2e/src/api/fuzz',
  'apps/e2e/src/api/foreign-ids',
  'apps/e2e/src/log/kill',
  'apps/e2e/src/log/eventstoredb',
  'libs/eventing/src/kafka/kafka.faults',
  'libs/postgres/src/embedded/embedded',
  'libs/rollouts/src/rollouts',
  'apps/e2e/src/clients/langgraph-cli',
  'apps/e2e/src/rollouts/webhooks.kill',
  'libs/eventing/src/kafka/kafka',
  'apps/e2e/src/api/alike',
  'tools/admin/src/replay/from-older-log',
  'apps/cluster/src/kafka',
  'apps/e2e/src/api/reads',
  'tools/admin/src/migrate-store/migrate-store',
  'tools/admin/src/audit/audit.poison',
  'libs/eventstoredb/src/testing/esdb-double',
  'libs/eventstoredb/src/eventstoredb.faults',
  'apps/e2e/src/log/kafka',
  'libs/edge/src/edge',
  'tools/admin/src/audit/audit.attacks',
  'apps/gateway/src/gateway',
  'apps/e2e/src/api/openapi',
  'apps/e2e/src/log/eventstoredb-job',
  'libs/eventing/src/followers/set-aside',
  'tools/faults/src/suites/soak',
  'libs/auth-providers/src/sign-in/authorization',
  'libs/eventing/src/core/event-store.property',
  'apps/e2e/src/clients/langsmith-python',
  'tools/faults/src/suites/overload',
  'libs/eventstoredb/src/catch-up',
  'libs/webhooks/src/deliveries/delivery.many-dead-targets',
  'libs/edge/src/edge.reference',
  'libs/executors/src/local/containers/container-process',
  'libs/schema/src/time-limit',
  'libs/outbound/src/outbound-resolver',
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
