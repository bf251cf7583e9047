import { fold } from '@fairlead/eventing';
import { given, recorded } from '@fairlead/eventing/testing';
import { type GateJudged, judgementsModel, noteLook } from './held-revision';

const look = (more: Partial<GateJudged['data']> = {}): GateJudged['data'] => ({
  ...{ deployment_id: 'd', revision_id: 'r', look: 1, outcome: 'hold', reasons: [], method: 'bounds-1', data: 'a' },
  ...{ verdicts: [], experiments: [] },
  ...more,
});
const counted = (scores_left_out: number) => ({
  ...{ id: 'e', name: 'eval', actor: 'ci', writers: ['ci'], scores_left_out, role: 'revision' as const, gate: 'g' },
});
const judged = (more?: Partial<GateJudged['data']>): GateJudged => ({ type: 'GateJudged', data: look(more) });

describe('a look at the evidence', () => {
  it.each<[what: string, before: GateJudged[], next: Partial<GateJudged['data']>, isNoted: boolean, seen?: number]>([
    ['the first', [], {}, true],
    ['one at the same scores', [judged()], { look: 1 }, false],
    ['one at the same scores, of which others were left out', [judged()], { look: 1, experiments: [counted(3)] }, true],
    ['one at other scores', [judged()], { look: 2, data: 'b' }, true],
    [
      'one that another process was ahead of',
      [judged(), judged({ look: 2, data: 'b' })],
      { look: 2, data: 'c' },
      ...([false, 1] as const),
    ],
    ['one after a verdict', [judged({ outcome: 'promote' })], { look: 2, data: 'b', outcome: 'refuse' }, false],
    ['a verdict', [judged()], { look: 2, data: 'b', outcome: 'refuse' }, true],
    ['the end of the wait', [judged()], { look: 1, data: '', outcome: 'refuse' }, true],
  ])('%s', (_, before, next, isNoted, seen = before.length) => {
    given(judgementsModel, ...before)
      .when(noteLook(look(next), seen))
      .then(...(isNoted ? [judged(next)] : []));
  });

  it('is noted when it is counted, however many have found too little', () => {
    const many = Array.from({ length: 200 }, (_, at) => judged({ look: 0, data: String(at) }));
    given(judgementsModel, ...many)
      .when(noteLook(look({ look: 0, data: 'more' }), 200))
      .then();
    given(judgementsModel, ...many)
      .when(noteLook(look({ look: 1, data: 'more' }), 200))
      .then(judged({ data: 'more' }));
  });
});

it('remembers every experiment of the revision that has counted', () => {
  const other = { ...counted(0), id: 'other' };
  const baseline = { ...counted(0), id: 'before', role: 'baseline' as const };
  const looks = [
    judged({ experiments: [counted(0), baseline] }),
    judged({ experiments: [counted(3), other] }),
    judged(),
  ];
  const folded = fold(judgementsModel, recorded(looks, 'gate-r'), judgementsModel.initial);
  expect(folded.counted).toEqual([counted(0), other]);
});
