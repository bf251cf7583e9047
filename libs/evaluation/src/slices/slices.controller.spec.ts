import { v4 as newId } from 'uuid';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
let dataset: string;
const ids: string[] = [];
const rows = Array.from({ length: 60 }, () => newId());
const TOPICS = ['billing', 'refunds', 'a=b %', 'ignored, 日本'];
/** Losses in one topic, gains in the others. */
const score = (place: number, candidate: boolean) => {
  if (!candidate) return place % 5 === 0 ? 0 : 1;
  return place % 4 === 0 ? 0 : 1;
};

beforeAll(async () => {
  service = await startUploading();
  const name = `dataset ${newId()}`;
  for (const candidate of [false, true]) {
    const results = rows.map((row_id, place) =>
      row({
        row_id,
        inputs: { topic: TOPICS[place % 4], question: `question ${place}`, turns: ['a', 'a'], long: 'x'.repeat(101) },
        evaluation_scores: [{ key: 'correct', score: score(place, candidate) }],
        actual_outputs: { usage_metadata: { total_tokens: candidate && place % 4 === 2 ? 900 : 300 } },
        ...(candidate && place % 4 === 1 && { error: 'broke' }),
      }),
    );
    const { json } = await service.upload(experiment({ dataset_name: name, experiment_name: newId() }, results));
    await service.settled();
    dataset = json.dataset.id;
    ids.push(json.experiment.id as string);
  }
});
afterAll(() => service.stop());

const path = (more = '', of: readonly string[] = ids) =>
  `/api/v1/datasets/${dataset}/compare/slices?experiments=${of.join(',')}${more}`;

describe('Slices of a comparison', () => {
  it('are found without being asked for, the losses first', async () => {
    const { status, json } = await service.get(path());
    expect([status, json.detail]).toEqual([200, undefined]);
    expect(json).toMatchObject({ dataset_id: dataset, baseline: ids[0], groups: 4, groups_left_out: 0, tests: 2 });
    expect(json.slices.slice(0, 2)).toMatchObject([
      { by: 'inputs.topic', value: 'refunds', measure: 'errors', verdict: 'worse', rows: 15, difference: 1 },
      {
        by: 'inputs.topic',
        value: 'billing',
        key: 'correct',
        verdict: 'worse',
        counts: { worse: 12, better: 0, same: 3 },
      },
    ]);
    expect(json.slices[1].interval.high).toBeLessThan(0);
    expect(json.total).toBe(8);
    const worse = await service.get(path('&verdict=worse&limit=1&offset=1'));
    expect(worse.json).toMatchObject({ total: 2, slices: [{ value: 'billing' }] });
    const known = { 'if-none-match': String((await service.get(path())).headers.etag) };
    expect((await service.send('GET', path(), [], known)).status).toBe(304);
  });

  it('are tested by what runs took when that is asked for, all tests corrected together', async () => {
    const before = (await service.get(path())).json;
    const { json } = await service.get(path('&measures=tokens&measures=cost'));
    // Nobody knows what the runs cost.
    expect(json).toMatchObject({ groups: 4, tests: before.tests + 1, total: before.total + 4 });
    const [tokens] = (json.slices as { measure: string; verdict: string }[]).filter((one) => one.measure === 'tokens');
    expect(tokens).toMatchObject({
      ...{ value: 'a=b %', key: null, direction: 'lower is better', verdict: 'worse', rows: 15 },
      ...{ baseline_mean: 300, mean: 900, difference: 600 },
    });
    const adjusted = ({ slices }: typeof json) =>
      (slices as { measure: string; value: string; adjusted_p: number }[]).find(
        ({ measure, value }) => measure === 'errors' && value === 'refunds',
      )!.adjusted_p;
    expect(adjusted(json)).toBeGreaterThan(adjusted(before));
    const report = `/api/v1/datasets/${dataset}/compare/report?experiments=${ids.join(',')}`;
    expect((await service.get(report)).text).not.toContain('tokens +600');
    expect((await service.get(`${report}&measures=tokens`)).text).toContain('topic: a=b %: tokens +600');
  });

  it('are filters of rows, with any character in their names', async () => {
    const { json } = await service.get(path());
    expect(json.slices).toHaveLength(8);
    for (const { slice, value } of json.slices as { slice: string; value: string }[]) {
      const asked = `/api/v1/datasets/${dataset}/compare?experiments=${ids.join(',')}&slice=${encodeURIComponent(slice)}`;
      const { page } = (await service.get(`${asked}&sort=row&limit=100`)).json;
      expect([slice, page.total, page.slice]).toEqual([slice, 15, slice]);
      const place = TOPICS.indexOf(value);
      const wanted = rows.filter((_, at) => at % 4 === place);
      expect((page.rows as { example_id: string }[]).map(({ example_id }) => example_id)).toEqual(wanted);
    }
  });

  it('come from metadata and splits too, and equal ones are one', async () => {
    const metadata = `case when name is not null then json_build_object('topic', searchable_json(inputs) ->> 'topic',
      'dataset_split', case when searchable_json(inputs) ->> 'topic' in ('billing', 'refunds') then '["money", "money"]'::jsonb end,
      'nested', '{"a": 1}'::jsonb, 'flag', searchable_json(inputs) ->> 'topic' = 'billing')::text end`;
    await service.pool.query(`update examples set metadata = ${metadata} where dataset_id = $1`, [dataset]);
    await service.pool.query('update datasets set modified_at = now() where id = $1', [dataset]);
    const named = async (more: string) => {
      const { json } = await service.get(path(`${more}&limit=100`));
      return [...new Set((json.slices as { slice: string }[]).map(({ slice }) => slice))].sort();
    };
    // The rows of `flag` and of the topic in the inputs are those of a topic in the metadata, or their rest.
    expect(await named('')).toEqual([
      ...['metadata.flag=false', 'metadata.topic=a=b %', 'metadata.topic=billing'],
      ...['metadata.topic=ignored, 日本', 'metadata.topic=refunds', 'split=base', 'split=money'],
    ]);
    expect(await named('&by=split')).toEqual(['split=base', 'split=money']);
    expect(await named('&by=inputs.topic&by=metadata.flag')).toHaveLength(5);
  });

  it.each([
    ['&by=topic', 'give split, metadata.<member> or inputs.<member>'],
    ['&by=outputs.a', 'give split'],
    ['&limit=101', 'less than or equal to 100'],
    ['&measures=errors', 'measures'],
    ['&verdict=bad', 'verdict'],
  ])('%s is refused', async (more, text) => {
    const { status, json } = await service.get(path(more));
    expect([status, JSON.stringify(json)]).toEqual([422, expect.stringContaining(text)]);
  });

  it('need two experiments of this dataset', async () => {
    expect(await service.get(path('', [ids[0]!]))).toMatchObject({ status: 400 });
    expect(await service.get(path('', [ids[0]!, newId()]))).toMatchObject({ status: 404 });
    const wrong = `/api/v1/datasets/${dataset}/compare?experiments=${ids.join(',')}&slice=topic`;
    expect(await service.get(wrong)).toMatchObject({ status: 422 });
  });
});
