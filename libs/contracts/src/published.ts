import { deploymentFacts, experimentFacts, FACT_TYPES, factsOf, type LoggedEvent, revisionFacts } from './facts';

/** What services tell only one another: the message says that the event is there, and no more. */
const INTERNAL = [
  'CommitResolved',
  'HostStatusReported',
  'IntegrationRemoved',
  'PushReceived',
  'RolloutStatusReported',
  'RunsReceived',
  'WebhookRemoved',
] as const;

const PUBLIC = new Map([
  ...onTopic('deployments.v1', Object.keys(deploymentFacts)),
  ...onTopic('revisions.v1', Object.keys(revisionFacts)),
  ...onTopic('experiments.v1', Object.keys(experimentFacts)),
]);

/** Types of all the events that services tell each other or the world outside. */
export const EVENT_TYPES: readonly string[] = [...new Set([...FACT_TYPES, ...INTERNAL])];

/** What of the log is sent to Kafka: the topic of each type, and what its messages tell. Described in asyncapi.yaml. */
export const publications = {
  topics: new Map([...PUBLIC, ...onTopic('internal.v1', INTERNAL)]),
  data: (event: LoggedEvent): object | undefined => (PUBLIC.has(event.type) ? factsOf(event) : undefined),
};

function onTopic(topic: string, types: readonly string[]): [string, string][] {
  return types.map((type) => [type, topic]);
}
