import {
  besideState,
  causeOf,
  deploymentWord,
  hasRun,
  lastHealthy,
  makerOf,
  revisionState,
  withNames,
  withSources,
} from './words';

const READY = { status: 'READY' } as const;

const [first, second, third] = ['1', '2', '3'].map((id) => {
  return { id, status: 'DEPLOYED' as const, created_at: `2026-01-0${id}T00:00:00Z` };
});

it('calls revisions before the active one superseded, and deployed ones after it taken back', () => {
  const words = [first!, second!, third!].map((one) => revisionState(one, second, READY).word);
  expect(words).toEqual(['Superseded', 'Live', 'Taken back']);
});

it('keeps the status of revisions that were never deployed', () => {
  const failed = { ...third!, status: 'DEPLOY_FAILED' as const };
  expect(revisionState(failed, second, READY)).toEqual({ word: 'Deploy failed', tone: 'bad' });
  expect(revisionState(first!, undefined, READY).word).toBe('Deployed');
});

it('says that a deployment crash loops, and nothing of it for other reasons', () => {
  const crashes = { status: 'UNKNOWN', crash_looping: true } as const;
  expect(deploymentWord(crashes)).toBe('Crash looping');
  expect(revisionState(first!, first, crashes)).toEqual({ word: 'Crash looping', tone: 'bad' });
  expect(deploymentWord({ status: 'UNKNOWN' })).toBe('Unknown');
  expect(deploymentWord({ status: 'AWAITING_DATABASE' })).toBe('Not deployed yet');
});

it('offers only revisions that have run well to go back to', () => {
  const failed = { ...first!, status: 'BUILD_FAILED' as const };
  expect([first!, second!, third!, failed].map((one) => hasRun(one, second))).toEqual([true, true, false, false]);
});

it('goes back to the newest revision that ran well for an hour, and not to the one that has trouble', () => {
  const ran = [60, 7200, 3599, 3600].map((healthy_seconds, index) => ({ ...first!, id: `${index}`, healthy_seconds }));
  const at = (status: 'READY' | 'UNKNOWN', active_revision_id: string) =>
    lastHealthy({ status, active_revision_id }, ran as unknown as Parameters<typeof lastHealthy>[1])?.id;
  expect([at('READY', '1'), at('UNKNOWN', '1'), at('UNKNOWN', '0')]).toEqual(['1', '3', '1']);
});

it('says a state once, and calls revisions by their numbers', () => {
  expect(besideState('Crash looping, 8 restarts', 'CRASH_LOOPING')).toBe('8 restarts');
  expect(besideState('1 process is running.', 'RUNNING')).toBe('1 process is running.');
  const numbered = [{ id: 'aaaa', number: 4 }, { id: 'bbbb' }];
  expect(withNames('Revision aaaa was taken back, and revision bbbb serves again.', numbered)).toBe(
    'v4 was taken back, and bbbb serves again.',
  );
});

it('names the sources of changes by digest and person', () => {
  const source_revision_config = { source_tarball_path: 'sources/2.tar.gz' };
  const upload = { sha256: '0123456789abcdef', bytes: 1, actor: 'a', actor_name: 'ada' };
  const revisions = [{ source_revision_config, upload }] as unknown as Parameters<typeof withSources>[1];
  const member = 'source_revision_config.source_tarball_path';
  expect(withSources([{ member, before: null, after: 'sources/2.tar.gz' }], revisions)).toEqual([
    { member: 'source', before: null, after: 'source 0123456 by ada' },
  ]);
  const others = [{ member: 'name', before: 'a', after: 'b' }];
  expect(withSources(others, revisions)).toEqual(others);
});

it('tells who pushed what, and otherwise who made a revision and why', () => {
  const push = { delivery_id: '1', pusher: 'pia', author: 'ada', subject: 'Fix the agent' };
  const pushed = { actor: 'system:deployments', actor_name: null, reason: 'Push of 1', push };
  expect([makerOf(pushed), causeOf(pushed)]).toEqual(['pia', 'Fix the agent']);
  const unknown = { ...pushed, push: { ...push, pusher: null, subject: null } };
  expect([makerOf(unknown), causeOf(unknown)]).toEqual(['deployments', 'A push']);
  expect(causeOf({ push: null, reason: 'slow' })).toBe('slow');
});
