import type { ProcessHealth } from './health.answers.schema';
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
] as const)('%s is said of %j', (state, processes, detail) => {
  expect(verdictOn(processes)).toEqual({ state, detail });
});

it('tells why nothing runs', () => {
  expect(verdictOn([], { isStopped: true })).toEqual({ state: 'STOPPED', detail: 'Somebody has stopped it.' });
  expect(verdictOn([], { sleeps: true })).toEqual({ state: 'IDLE', detail: 'It sleeps until the next request.' });
  expect(verdictOn([one('RUNNING')], { sleeps: true }).state).toBe('RUNNING');
});
