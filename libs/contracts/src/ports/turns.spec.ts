import fc from 'fast-check';
import type { RevisionStatus } from './rollouts';
import { hasEnded, isRunning, NO_TURNS, turned, type Turns } from './turns';

const STATUSES: readonly RevisionStatus[] = [
  'AWAITING_BUILD',
  'BUILDING',
  'DEPLOYING',
  'DEPLOYED',
  'BUILD_FAILED',
  'SKIPPED',
];
const event = fc.oneof(
  fc.nat(9).map((n) => ({ type: 'RevisionCreated', data: { revision_id: `r${n}`, source: 'codehost' } })),
  fc.record({ n: fc.nat(9), status: fc.constantFrom(...STATUSES) }).map(({ n, status }) => ({
    type: 'RevisionStatusChanged',
    data: { revision_id: `r${n}`, previous_status: 'QUEUED', status },
  })),
  fc.constant({ type: 'DeploymentTagged', data: { tag_value_ids: [] } }),
);
const after = (events: readonly { type: string; data: unknown }[]) =>
  events.reduce<Turns>((state, next) => ({ ...state, ...turned(state, next) }), NO_TURNS);
const created = (id: string) => ({ type: 'RevisionCreated', data: { revision_id: id, source: 'codehost' } });
const moved = (id: string, status: RevisionStatus, replaced_by?: string) => ({
  type: 'RevisionStatusChanged',
  data: { revision_id: id, previous_status: 'QUEUED', status, ...(replaced_by && { replaced_by }) },
});

describe('the turns of a deployment', () => {
  it('have a running revision that does not wait and has not ended, for any events', () => {
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const { queued, running } = after(events);
        if (!running) return;
        expect(isRunning(running.status) && !hasEnded(running.status)).toBe(true);
        const last = events.findLast(({ data }) => (data as { revision_id?: string }).revision_id === running.id)!;
        if (last.type === 'RevisionStatusChanged') expect(queued.map(({ id }) => id)).not.toContain(running.id);
      }),
    );
  });

  it('count the revisions in a row that were replaced before they were ready', () => {
    const begun = [created('a'), moved('a', 'DEPLOYING'), created('b'), moved('a', 'INTERRUPTED', 'b')];
    const again = [...begun, moved('b', 'DEPLOYING'), created('c'), moved('b', 'INTERRUPTED', 'c')];
    expect([after(begun).replaced, after(again).replaced]).toEqual([1, 2]);
    expect(after([...again, moved('c', 'DEPLOYING'), moved('c', 'DEPLOYED')]).replaced).toBeUndefined();
  });

  it('name the active revision, its executor and the commit of the running one', () => {
    const events = [
      created('a'),
      moved('a', 'BUILDING'),
      { type: 'RevisionCommitResolved', data: { revision_id: 'a', repo_commit_sha: 'c0ffee' } },
    ];
    expect(after(events).running).toEqual({ id: 'a', status: 'BUILDING', commit: 'c0ffee' });
    const activated = { type: 'RevisionActivated', data: { revision_id: 'a', executor: 'local' } };
    expect(after([...events, moved('a', 'DEPLOYED'), activated])).toMatchObject({
      ...{ running: null, queued: [], latest_revision_id: 'a', active_revision_id: 'a', executor: 'local' },
    });
  });
});
