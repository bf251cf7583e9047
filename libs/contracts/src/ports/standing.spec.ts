import { type DeploymentFacts, standingOf, withNumbers } from './standing';

const [v15, v16] = [
  { number: 15, status: 'DEPLOYED' },
  { number: 16, status: 'DEPLOYED' },
] as const;
const crash = 'Crash looping, 16 restarts, last line: cannot connect to postgres';

it.each<[string, string, Partial<DeploymentFacts>]>([
  ['Live, v16', 'ok', {}],
  ['Not deployed yet', 'idle', { status: 'AWAITING_DATABASE', live: null, latest: null }],
  ['First build failed', 'bad', { live: null, latest: { number: 1, status: 'BUILD_FAILED' } }],
  ['First start failed', 'bad', { live: null, latest: { number: 1, status: 'DEPLOY_FAILED' } }],
  ['v3: build failed; nothing has run yet', 'bad', { live: null, latest: { number: 3, status: 'BUILD_FAILED' } }],
  ['v1 is being built', 'busy', { live: null, latest: { number: 1, status: 'BUILDING' } }],
  ['Cannot be reached: no route', 'bad', { status: 'UNKNOWN', status_reason: 'no route', live: null, latest: v15 }],
  ['Live, v15; v16: build failed', 'bad', { live: v15, latest: { number: 16, status: 'BUILD_FAILED' } }],
  ['Live, v15; v16 was taken back', 'bad', { live: v15 }],
  ['Live, v15; v16 is being started', 'busy', { live: v15, latest: { number: 16, status: 'DEPLOYING' } }],
  ['Live, v15; v16 was interrupted', 'ok', { live: v15, latest: { number: 16, status: 'INTERRUPTED' } }],
  ['Crash looping: 16 restarts, last line: cannot connect to postgres', 'bad', { crash_looping: true }],
  ['v16 runs again after a crash loop', 'busy', { crash_looping: true, seen: { state: 'RUNNING', detail: '1' } }],
  ['v16 is degraded: 1 of 2', 'bad', { status_reason: undefined, seen: { state: 'DEGRADED', detail: '1 of 2' } }],
  ['v16 does not run: it ended', 'bad', { status: 'UNKNOWN', seen: { state: 'FAILED', detail: 'it ended' } }],
  ['State of v16 unknown: no route', 'bad', { status: 'UNKNOWN', status_reason: 'no route' }],
  ['Stopped, v16', 'idle', { stopped: true }],
  ['Unused, v16', 'idle', { status: 'UNUSED', seen: { state: 'IDLE', detail: 'It sleeps.' } }],
  ['Being deleted', 'busy', { status: 'AWAITING_DELETE', crash_looping: true }],
])('%s (%s)', (text, tone, facts) => {
  expect(standingOf({ status: 'READY', status_reason: crash, live: v16, latest: v16, ...facts })).toEqual({
    text,
    tone,
  });
});

it('says how long a crash loop has taken, and is bad when its end was not reported yet', () => {
  const seen = { state: 'CRASH_LOOPING', detail: crash };
  const text = 'Crash looping: 16 restarts in 10 min, last line: cannot connect to postgres';
  const facts = { status: 'READY', live: v16, latest: v16, seen, loopingMs: 600_000 };
  expect(standingOf(facts)).toEqual({ text, tone: 'bad' });
});

it('calls revisions by their places', () => {
  const ids = ['0198c1f0-0000-7000-8000-000000000001', '0198c1f0-0000-7000-8000-000000000002'];
  expect(withNumbers(`Revision ${ids[1]} was taken back, and revision ${ids[0]} serves.`, ids)).toBe(
    'v2 was taken back, and v1 serves.',
  );
});
