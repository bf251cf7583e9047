import { type GatedDeployment, gatedEvolve, type GatedEvent, type Standing, told } from './gated-revision';

const CONFIG = { repo_ref: 'main' };
const created = {
  type: 'DeploymentCreated',
  data: {
    ...{ deployment_id: 'd', tenant_id: 't', name: 'agent', source: 'codehost', source_revision_config: CONFIG },
    source_config: { integration_id: 'i', repo_url: 'https://git.example/team/agent' },
  },
} as const;
const revision = (revision_id: string) =>
  ({
    type: 'RevisionCreated',
    data: {
      ...{ revision_id, deployment_id: 'd', source: 'codehost', source_revision_config: CONFIG, resource_spec: null },
      ...{ secrets: [], secret_references: null, gates: [] },
    },
  }) as const;
const held = (revision_id: string) =>
  ({ type: 'RevisionHeld', data: { revision_id, gates: [], active_revision_id: null, until: '' } }) as const;
const ended = (status: 'SKIPPED' | 'INTERRUPTED' | 'DEPLOY_FAILED', more: object = {}) =>
  ({
    type: 'RevisionStatusChanged',
    data: { revision_id: 'r', previous_status: 'AWAITING_DEPLOY', status, ...more },
  }) as const;
const released = (by: 'verdict' | 'override' | 'roll back') =>
  ({ type: 'RevisionReleased', data: { revision_id: 'r', by } }) as const;

function given(...events: readonly GatedEvent[]) {
  const evolve = gatedEvolve(new Set(['r']));
  return [created, revision('r'), ...events].reduce<GatedDeployment | null>(evolve, null)!;
}

it.each<[string, Standing | null, readonly GatedEvent[]]>([
  ['is new', null, []],
  ['is held', 'held', [held('r')]],
  ['is promoted', 'promoted', [held('r'), released('verdict')]],
  ['is let through by a person', 'overridden', [held('r'), released('override')]],
  ['is let through before its gates were asked', 'overridden', [released('roll back')]],
  ['is refused', 'refused', [held('r'), ended('DEPLOY_FAILED', { reason: 'Worse.' })]],
  ['is skipped', 'superseded', [held('r'), ended('SKIPPED')]],
  ['is replaced', 'superseded', [held('r'), ended('INTERRUPTED', { replaced_by: 's' })]],
  ['is interrupted', 'ended', [held('r'), ended('INTERRUPTED')]],
  ['is deleted', 'ended', [held('r'), { type: 'DeploymentDeletionRequested', data: {} }]],
  ['was promoted before its deployment failed', 'promoted', [held('r'), released('verdict'), ended('DEPLOY_FAILED')]],
  ['is another one', null, [held('s')]],
])('a revision that %s has the standing %j', (_, standing, events) => {
  expect(given(...events).revisions.get('r')).toMatchObject({ standing });
});

it('knows the commit, and why it was refused', () => {
  const resolved = { type: 'RevisionCommitResolved', data: { revision_id: 'r', repo_commit_sha: 'abc' } } as const;
  const { revisions, ...deployment } = given(resolved, held('r'), ended('DEPLOY_FAILED', { reason: 'Worse.' }));
  expect(deployment).toEqual({ name: 'agent', integration_id: 'i', repo_url: 'https://git.example/team/agent' });
  expect([...revisions]).toEqual([
    ['r', { commit: 'abc', ref: 'main', gates: [], standing: 'refused', reason: 'Worse.' }],
  ]);
});

it.each<[Standing, string | null, string[], string, string]>([
  ['held', null, [], 'pending', 'Held by its gates.'],
  ['held', null, ['9 of 30 rows.', 'More.'], 'pending', 'Held by its gates: 9 of 30 rows.'],
  ['promoted', null, ['Old.'], 'success', 'Promoted by its gates.'],
  ['overridden', null, ['Old.'], 'success', 'Let through, whatever its gates say.'],
  ['refused', 'Worse.', ['Old.'], 'failure', 'Refused by its gates: Worse.'],
  ['superseded', null, ['Old.'], 'skipped', 'Skipped for a newer revision.'],
  ['ended', null, [], 'skipped', 'Ended before its gates have decided.'],
])('%s with %j is told', (standing, reason, reasons, state, description) => {
  expect(told(standing, reason, reasons)).toMatchObject({ state, description });
});

it.each(['', 'c'])('tells no more than hosts take, on one line, in whole characters', (more) => {
  const { description } = told('held', null, [`a\nb\u0000${more}${'😀'.repeat(100)}`]);
  expect(description).toMatch(/^Held by its gates: a b /);
  expect(description.length).toBeLessThanOrEqual(140);
  expect(encodeURIComponent(description)).toContain('%F0%9F%98%80');
});
