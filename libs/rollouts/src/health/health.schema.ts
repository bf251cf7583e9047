import { TONES } from '@fairlead/contracts';
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
  standing: note(
    object('HealthStanding', {
      text: note(
        str(),
        'How the deployment is, with its revisions, such as `Crash looping: 16 restarts in 10 min, last line: …`, `First build failed` or `Live, v16`.',
      ),
      tone: note(
        literal(TONES),
        '`bad` while anything of it fails, `busy` while it changes by itself, `idle` when nothing runs on purpose, else `ok`.',
      ),
    }),
    'The deployment in one sentence for people.',
  ),
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
        preview: note(
          nullable(str()),
          'Path of the address at which it answers while its gates hold it; null when it does not.',
        ),
      }),
    ),
    'The newest revision; null before there is one.',
  ),
  processes: note(list(processHealth), 'Processes or pods, as far as the executor knows them; at most 100.'),
});

export type DeploymentHealth = Infer<typeof health>;
