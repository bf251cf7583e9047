import { between, changesOf, folded, secretChanges, statuses } from './history';
import type { HistoryEntry } from './words';

function entry(version: number, type: string, rest: Partial<HistoryEntry> = {}): HistoryEntry {
  const time = `2026-01-01T00:00:${String(version).padStart(2, '0')}Z`;
  return { version, type, time, actor: 'key', actor_name: 'ada', request_id: null, reason: null, changes: [], ...rest };
}

const change = (member: string, before: unknown, after: unknown) => ({ member, before, after });
const IMAGE = 'source_revision_config.image_uri';

/** The newest first, as the service lists them. */
const HISTORY = [
  entry(6, 'SecretsRead', { secrets_read: ['TOKEN'] }),
  entry(6, 'RevisionStatusChanged', {
    actor: 'system:rollouts',
    changes: [change('revisions.r2.status', 'QUEUED', 'DEPLOYED'), change('active_revision_id', 'r1', 'r2')],
  }),
  entry(5, 'RevisionCreated', { request_id: 'b', changes: [change('revisions.r2.status', null, 'QUEUED')] }),
  entry(4, 'DeploymentPatched', { request_id: 'b', changes: [change(IMAGE, 'a:2', 'a:1')] }),
  entry(3, 'DeploymentPatched', {
    request_id: 'a',
    changes: [change(IMAGE, 'a:1', 'a:2'), change('secrets.TOKEN', 'x', 'y')],
  }),
  entry(2, 'SecretsRead', { actor: 'system:rollouts', secrets_read: ['TOKEN'] }),
  entry(2, 'RevisionStatusChanged', { actor: 'system:rollouts' }),
  entry(1, 'DeploymentCreated', { request_id: 'c' }),
];

it('folds what one request or one rollout caused, and leaves people who read secrets alone', () => {
  const steps = folded(HISTORY).map(({ cause, entries }) => [cause.type, cause.version, entries.length]);
  expect(steps).toEqual([
    ['SecretsRead', 6, 1],
    ['RevisionStatusChanged', 6, 1],
    ['DeploymentPatched', 4, 2],
    ['DeploymentPatched', 3, 1],
    ['RevisionStatusChanged', 2, 2],
    ['DeploymentCreated', 1, 1],
  ]);
});

it('tells what people set, not what follows from it', () => {
  expect(changesOf(HISTORY.slice(1, 3))).toEqual([]);
  expect(statuses(HISTORY.slice(1, 3))).toEqual([
    { revision: 'r2', status: 'QUEUED' },
    { revision: 'r2', status: 'DEPLOYED' },
  ]);
});

it('tells what differs between two versions, in either direction, without what was changed back', () => {
  expect(between(HISTORY, 2, 3)).toEqual([change('secrets.TOKEN', 'x', 'y'), change(IMAGE, 'a:1', 'a:2')]);
  expect(between(HISTORY, 2, 6)).toEqual([change('secrets.TOKEN', 'x', 'y')]);
  expect(between(HISTORY, 4, 3)).toEqual([change(IMAGE, 'a:1', 'a:2')]);
});

it('knows when a secret was last set', () => {
  expect([...secretChanges(HISTORY)].map(([name, { version }]) => [name, version])).toEqual([['TOKEN', 3]]);
});
