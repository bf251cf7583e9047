import { shape } from '@fairlead/api';

const { integer, list, noted, nullable, number, object, oneOf, text, time, uuid } = shape;

const processHealth = object('ProcessHealth', {
  name: noted(text, 'Name that the executor gives it, such as the name of a pod.'),
  state: noted(
    oneOf('STARTING', 'RUNNING', 'UNRESPONSIVE', 'STOPPING', 'CRASH_LOOPING', 'FAILED'),
    '`RUNNING` once it is ready for requests. `UNRESPONSIVE`: it runs, but has closed its port or does not answer there. `CRASH_LOOPING`: it has ended three times or more in a row, and is started again.',
  ),
  reason: noted(nullable(text), 'Why it is not ready, in one sentence; null when it is, and when nothing is known.'),
  revision_id: noted(nullable(uuid), 'Revision that it runs; null when that is not known.'),
  restarts: noted(integer, 'How often it has been started again after it ended.'),
  started_at: noted(nullable(time), 'When it was last started; null before that.'),
  memory_bytes: noted(nullable(integer), 'Memory that it uses; null where that is not measured.'),
  cpu_cores: noted(nullable(number), 'Processor cores that it uses; null where that is not measured.'),
  last_error: noted(nullable(text), 'How it ended the last time; null when it has not ended.'),
});

export type ProcessHealth = shape.Shaped<typeof processHealth>;

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
