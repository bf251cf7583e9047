import type { ProcessHealth } from '@fairlead/executors';
import { verdictOn } from './verdict';

type State = ProcessHealth['state'];

function one(state: State, reason: string | null = null, last_error: string | null = null): ProcessHealth {
  const unmeasured = { memory_bytes: null, cpu_cores: null, started_at: null, revision_id: null };
  return { name: 'one', state, reason, last_error, restarts: 0, ...unmeasured };
}

it.each([
  ['IDLE', [], 'Nothing runs now.'],
  ['IDLE', [one('STOPPING')], 'Nothing runs now.'],
  ['RUNNING', [one('RUNNING')], '1 process is running.'],
  ['RUNNING', [one('RUNNING', null, 'it ended once'), one('RUNNING')], '2 processes are running.'],
  ['DEGRADED', [one('RUNNING'), one('STARTING')], '1 of 2 processes are ready.'],
  ['DEGRADED', [one('RUNNING'), one('FAILED', 'no image')], '1 of 2 processes are ready: no image'],
  ['STARTING', [one('STARTING')], 'No process is ready yet.'],
  ['STARTING', [one('STARTING', 'no node has room')], 'No process is ready yet: no node has room'],
  ['FAILED', [one('STARTING'), one('FAILED', 'no image')], 'No process is ready: no image'],
  ['FAILED', [one('FAILED', null, 'exit code 1')], 'No process is ready: exit code 1'],
  ['CRASH_LOOPING', [one('CRASH_LOOPING', '16 restarts')], '16 restarts'],
  ['CRASH_LOOPING', [one('CRASH_LOOPING', '16 restarts'), one('CRASH_LOOPING', '3 restarts')], '16 restarts'],
  ['CRASH_LOOPING', [one('STOPPING'), one('CRASH_LOOPING', '16 restarts')], '16 restarts'],
  ['DEGRADED', [one('RUNNING'), one('CRASH_LOOPING', '16 restarts')], '1 of 2 processes are ready: 16 restarts'],
  ['STARTING', [one('STARTING'), one('CRASH_LOOPING', '16 restarts')], 'No process is ready yet: 16 restarts'],
  ['FAILED', [one('CRASH_LOOPING', '16 restarts'), one('FAILED', 'no image')], 'No process is ready: no image'],
  ['DEGRADED', [one('UNRESPONSIVE', 'no answer in 5 s')], 'No process answers: no answer in 5 s'],
  ['DEGRADED', [one('RUNNING'), one('UNRESPONSIVE', 'no answer')], '1 of 2 processes are ready: no answer'],
  ['DEGRADED', [one('STARTING'), one('UNRESPONSIVE', 'no answer')], 'No process answers: no answer'],
  ['DEGRADED', [one('CRASH_LOOPING', '16 restarts'), one('UNRESPONSIVE')], 'No process answers: 16 restarts'],
] as const)('%s is said of %j', (state, processes, detail) => {
  expect(verdictOn(processes)).toEqual({ state, detail });
});

it('tells why nothing runs', () => {
  expect(verdictOn([], { isStopped: true })).toEqual({ state: 'STOPPED', detail: 'Somebody has stopped it.' });
  expect(verdictOn([], { sleeps: true })).toEqual({ state: 'IDLE', detail: 'It sleeps until the next request.' });
  expect(verdictOn([one('RUNNING')], { sleeps: true }).state).toBe('RUNNING');
});
