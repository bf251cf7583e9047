import { shape } from '@fairlead/api';
import { processHealth } from '@fairlead/executors';

const { list, noted, nullable, object, oneOf, text, uuid } = shape;

export const health = object('DeploymentHealth', {
  deployment_id: noted(uuid, 'Identifier of the deployment.'),
  state: noted(
    oneOf(
      ...(['RUNNING', 'STARTING', 'DEGRADED', 'CRASH_LOOPING', 'FAILED', 'IDLE', 'STOPPED'] as const),
      ...(['RECORDED', 'NOT_DEPLOYED', 'UNKNOWN'] as const),
    ),
    '`DEGRADED`: some processes are ready, others are not, or one runs and does not answer. `CRASH_LOOPING`: all processes end again and again; it ends when one has run for a minute. `IDLE`: no process runs now. `RECORDED`: the executor `record` deployed it, which runs nothing. `UNKNOWN`: the executor cannot tell.',
  ),
  detail: noted(text, 'The state in one sentence.'),
  executor: noted(
    nullable(text),
    'What deployed the active revision, a value of the setting `EXECUTOR`; null before one was deployed, and for revisions of earlier versions.',
  ),
  active_revision_id: noted(nullable(uuid), 'The revision that runs; null until one has been deployed.'),
  latest_revision: noted(
    nullable(
      object('RevisionHealth', {
        id: noted(uuid, 'Identifier of the revision.'),
        status: noted(text, 'Its status, as the revision itself tells it.'),
        reason: noted(nullable(text), 'Why it has failed, or what it waits for; null when there is nothing to say.'),
      }),
    ),
    'The newest revision; null before there is one.',
  ),
  processes: noted(list(processHealth), 'Processes or pods, as far as the executor knows them; at most 100.'),
});

export type DeploymentHealth = shape.Shaped<typeof health>;
