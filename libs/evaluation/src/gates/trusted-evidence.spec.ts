import type { Writers } from './evidence-writers.service';
import { trustedOf } from './trusted-evidence';

const writers = (more: Partial<Writers> = {}): Writers => ({
  ...{ version: 1, maker: 'ci', isUpload: true, scores: new Map(), deeds: new Map(), isCut: false },
  ...more,
});
const of = (more: Partial<Writers>, keys?: string[], stored = 0) =>
  trustedOf({ evidence_keys: keys }, 'eval', writers(more), (actor) => actor === 'program', stored);
const did = (deed: string, ...actors: (string | null)[]) => new Map([[deed, new Set(actors)]]);
const by = (...actors: (string | null)[]) => new Map(actors.map((actor, at) => [`score ${at}`, actor]));
const NOTHING = { counts: false, leftOut: [], writers: [], reasons: [] };

describe('What counts of an experiment', () => {
  it('is all of it when everybody who wrote it is trusted, each of whom is named', () => {
    const trusted = of({ deeds: did('has sent runs to', 'ci', 'lab'), scores: by('judge') });
    expect(trusted).toEqual({ counts: true, leftOut: [], writers: ['ci', 'lab', 'judge'], reasons: [] });
  });

  it.each([
    ['another key than those of the gate', 'other', ['ci']],
    ['a program', 'program', undefined],
    ['a service', 'system:tracing-projects', undefined],
  ])('is nothing when it was made by %s', (_, maker, keys) => {
    expect(of({ maker }, keys)).toEqual(NOTHING);
  });

  it('is not the scores that others have given', () => {
    const trusted = of({ scores: by('ci', 'other', 'program') }, ['ci']);
    expect(trusted).toMatchObject({ leftOut: ['score 1', 'score 2'], writers: ['ci'], reasons: [] });
    expect(of({ scores: by('other', 'program') })).toMatchObject({ leftOut: ['score 1'], writers: ['ci', 'other'] });
    const many = of({ scores: by(...Array<string>(1001).fill('other')) }, ['ci']);
    expect(many.reasons).toEqual(['More than 1000 scores of eval were given with keys that do not count.']);
  });

  it.each(['has sent runs to', 'has filled rows of', 'has changed', 'has changed scores of', 'has deleted scores of'])(
    'cannot be told when another key %s it',
    (deed) => {
      expect(of({ deeds: did(deed, 'other') }, ['ci']).reasons).toEqual([
        `The key other ${deed} eval, and does not count.`,
      ]);
      expect(of({ deeds: did(deed, 'program') }).reasons).toEqual([
        `The key program ${deed} eval, and does not count.`,
      ]);
      expect(of({ deeds: did(deed, 'ci') }, ['ci']).reasons).toEqual([]);
    },
  );

  it('cannot be told when a writer is not known', () => {
    expect(of({ maker: null }).reasons).toEqual(['It is not known who made eval.']);
    expect(of({ deeds: did('has changed', null) }).reasons).toEqual(['It is not known who has changed eval.']);
    const unknown = ['It is not known who gave some scores of eval.'];
    expect(of({ scores: by(null) }).reasons).toEqual(unknown);
    // What waited for its run is shown before the log has it in the experiment.
    expect(of({ isUpload: false, scores: by('ci') }, undefined, 2).reasons).toEqual(unknown);
    expect(of({ isUpload: false, scores: by('ci') }, undefined, 1).reasons).toEqual([]);
    expect(of({ isCut: true }).reasons).toEqual(['eval has too many changes to tell who made them.']);
  });
});
