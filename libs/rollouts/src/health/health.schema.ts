import { type Infer, list, literal, note, nullable, object, str, uuid } from '@fairlead/schema';
import { processHealth } from '@fairlead/executors';

export const health = object('DeploymentHealth', {
  deployment_id: note(uuid(), 'Identifier of the deployment.'),
  state: note(
    literal([
      ...(['RUNNING', 'STARTING', 'DEGRADED', 'CRASH_LOOPING', 'FAILED', 'IDLE', 'STOPPED'] as const),
      ...(['RECORDED', 'NOT_DEPLOYED', 'UNKNOWN'] as const),
    ]),
    '`DEGRADED`: some processes are ready, others are not, or one runs and does not answer. `CRASH_LOOPING`: all processes end again and again; it ends when one has run for a minute. `IDLE`: no process runs now. `RECORDED`: the executor `record` deployed it, which runs nothing. `UNKNOWN`: the executor cannot tell.',
  ),
  detail: note(str(), 'The state in one sentence.'),
  executor: note(
    nullable(str()),
    'What deployed the active revision, a value of the setting `EXECUTOR`; null before one was deployed, and for revisions of earlier versions.',
  ),
  next_executor: note(str(), 'What will deploy the next revision, the value of the setting `EXECUTOR`.'),
  active_revision_id: note(nullable(uuid()), 'The revision that runs; null until one has been deployed.'),
  latest_revision: note(
    nullable(
      object('RevisionHealth', {
        id: note(uuid(), 'Identifier of the revision.'),
        status: note(str(), 'Its status, as the revision itself tells it.'),
        reason: note(nullable(str()), 'Why it has failed, or what it waits for; null when there is nothing to say.'),
      }),
    ),
    'The newest revision; null before there is one.',
  ),
  processes: note(list(processHealth), 'Processes or pods, as far as the executor knows them; at most 100.'),
});

export type DeploymentHealth = Infer<typeof health>;
