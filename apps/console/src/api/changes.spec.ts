import { concerned, isStale } from './changes';

const change = (type: string, data: object = {}) => ({ type, data });

it('knows which queries a change concerns: of deployments, only those of the one that changed', () => {
  const names = new Set(concerned([change('revision.created', { deployment_id: 'd1' })]));
  const keys = [
    ['deployments', 'w', {}],
    ['deployment', 'w', 'd1', 'now'],
    ['deployment', 'w', 'd2', 'now'],
    ['experiments', 'w', undefined],
  ];
  expect(keys.map((key) => isStale(names, key))).toEqual([true, true, false, false]);
});

it('names the comparisons when runs were stored, and nothing for what no page shows', () => {
  expect(concerned([change('experiment.runs_persisted')])).toContain('comparison');
  expect(concerned([change('webhook.test')])).toEqual([]);
});

it('knows that all but the session is stale when changes may be missing', () => {
  expect([['keys', 'w'], ['session']].map((key) => isStale(new Set(['*']), key))).toEqual([true, false]);
});
