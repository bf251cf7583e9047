import { type Infer, int, literal, note, nullable, num, object, str, timestamp, uuid } from '@fairlead/schema';

export const processHealth = object('ProcessHealth', {
  name: note(str(), 'Name that the executor gives it, such as the name of a pod.'),
  state: note(
    literal(['STARTING', 'RUNNING', 'UNRESPONSIVE', 'STOPPING', 'CRASH_LOOPING', 'FAILED']),
    '`RUNNING` once it is ready for requests. `UNRESPONSIVE`: it runs, but has closed its port or does not answer there. `CRASH_LOOPING`: it has ended three times or more in a row, and is started again.',
  ),
  reason: note(nullable(str()), 'Why it is not ready, in one sentence; null when it is, and when nothing is known.'),
  revision_id: note(nullable(uuid()), 'Revision that it runs; null when that is not known.'),
  restarts: note(int(), 'How often it has been started again after it ended.'),
  started_at: note(nullable(timestamp()), 'When it was last started; null before that.'),
  memory_bytes: note(nullable(int()), 'Memory that it uses; null where that is not measured.'),
  cpu_cores: note(nullable(num()), 'Processor cores that it uses; null where that is not measured.'),
  last_error: note(nullable(str()), 'How it ended the last time; null when it has not ended.'),
});

export type ProcessHealth = Infer<typeof processHealth>;
