import { shape } from '@fairlead/api';

const { integer, noted, nullable, number, object, oneOf, text, time, uuid } = shape;

export const processHealth = object('ProcessHealth', {
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
