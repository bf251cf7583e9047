import { deploymentWord, revisionState } from './words';

const [first, second, third] = ['1', '2', '3'].map((id) => {
  return { id, status: 'DEPLOYED' as const, created_at: `2026-01-0${id}T00:00:00Z` };
});

it('calls revisions before the active one superseded, and deployed ones after it taken back', () => {
  const words = [first!, second!, third!].map((one) => revisionState(one, second).word);
  expect(words).toEqual(['Superseded', 'Live', 'Taken back']);
});

it('keeps the status of revisions that were never deployed', () => {
  const failed = { ...third!, status: 'DEPLOY_FAILED' as const };
  expect(revisionState(failed, second)).toEqual({ word: 'Deploy failed', tone: 'bad' });
  expect(revisionState(first!, undefined).word).toBe('Deployed');
});

it('says that a deployment crash loops, and nothing of it for other reasons', () => {
  const crashes = { status: 'UNKNOWN', status_reason: 'Crash looping, 16 restarts, last line: no module' } as const;
  expect(deploymentWord(crashes)).toBe('Crash looping');
  expect(deploymentWord({ ...crashes, status_reason: 'The host does not answer.' })).toBe('Unknown');
  expect(deploymentWord({ status: 'AWAITING_DATABASE' })).toBe('Not deployed yet');
});
