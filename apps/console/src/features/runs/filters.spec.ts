import { faultOf, tracesAsked } from './filters';

const NOW = Date.parse('2026-01-08T00:00:00Z');
const asked = (search: Record<string, string>) => tracesAsked(search, NOW);

it('asks for all root runs without a filter', () => {
  expect(asked({ status: 'unknown', since: 'constructor', q: '' })).toEqual({});
});

it('filters by all that an address holds', () => {
  const { filter, ...rest } = asked({
    ...{ status: 'success', name: 'ask "x"', type: 'llm', since: '7d', tag: 'night', metadata: 'model=a=b' },
    ...{ score: 'correct >= 0.5', q: 'parcel', thread: 't 1' },
  });
  expect(rest).toEqual({
    ...{ status: 'success', run_type: 'llm', from: '2026-01-01T00:00:00.000Z', tag: 'night' },
    ...{ text: 'parcel', thread_id: 't 1' },
  });
  expect(filter).toBe(
    'and(like(name, "%ask \\"x\\"%"), and(eq(metadata_key, "model"), eq(metadata_value, "a=b")), ' +
      'and(eq(feedback_key, "correct"), gte(feedback_score, 0.5)))',
  );
});

it('takes keys of metadata, and times that are written out', () => {
  expect(asked({ metadata: 'model', from: '2026-01-01T00:00Z', to: '2026-01-02T00:00Z', since: '1h' })).toEqual({
    ...{ filter: 'exists(metadata, "model")' },
    ...{ from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
  });
});

it('leaves out what is not written to its end, and says so', () => {
  expect(asked({ score: 'correct>' })).toEqual({});
  expect(faultOf({ score: 'correct>' })).toMatch(/^A score is filtered by/);
  expect(faultOf({ from: 'yesterday' })).toMatch(/^A time is written/);
  expect(faultOf({ score: 'a:b<1' })).toBeUndefined();
});
