import { v4 as newId } from 'uuid';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
const deviation = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, one) => sum + (one - mean(values)) ** 2, 0) / (values.length - 1));

/** Uploads rows, given by the scores of each of their runs, and answers what is told of the key. */
async function told(rows: readonly (readonly (readonly (number | null)[])[])[]) {
  const results = rows.flatMap((runs, place) => {
    const row_id = newId();
    return runs.map((scores) =>
      row({ row_id, inputs: { place }, evaluation_scores: scores.map((score) => ({ key: 'judge', score })) }),
    );
  });
  const { json } = await service.upload(experiment({}, results));
  await service.settled();
  const session = (await service.get(`/api/v1/sessions/${json.experiment.id}`)).json;
  const path = `/api/v1/datasets/${json.dataset.id}/compare?experiments=${json.experiment.id}`;
  const comparison = (await service.get(path)).json;
  return { statistics: session.feedback_stats.judge, runs: session.run_count as number, comparison };
}

it('The mean of a judge that mostly crashed says how many runs it is over', async () => {
  const { statistics, comparison, runs } = await told([[[0.5]], [[null]], [[]]]);
  expect(runs).toBe(3);
  expect(statistics).toMatchObject({ n: 2, avg: 0.5, scores: 1 });
  expect(comparison.keys[0].results[0]).toEqual({
    ...{ experiment: expect.any(String), mean: 0.5, scored: 1, runs: 1 },
  });
  expect(comparison.experiments[0].run_count).toBe(3);
});

it('Several scores of a key on one run are said, and count as their mean', async () => {
  const { statistics, comparison } = await told([[[1, 0], [1]], [[0]]]);
  expect(statistics).toMatchObject({ n: 4, avg: 0.5, scored: 3 });
  const [{ results }] = comparison.keys;
  // The first row has runs of 0.5 and 1, not three scores.
  expect(results[0]).toMatchObject({ mean: 0.375, scored: 2, runs: 3, scores: 4 });
  expect(comparison.warnings).toMatchObject([
    { code: 'several scores on a run', key: 'judge', message: expect.stringContaining('4 scores of judge on 3 runs') },
  ]);
});

it('Numbers are what values are over, whatever was repeated or left out', async () => {
  for (let round = 0; round < 8; round++) {
    const any = (count: number) => Math.floor(Math.random() * count);
    const rows = Array.from({ length: 1 + any(6) }, () =>
      Array.from({ length: 1 + any(4) }, () => Array.from({ length: any(3) }, () => (any(4) === 0 ? null : any(10)))),
    );
    // At least one score, or there is no key.
    rows.push([[3]]);
    const scored = rows.map((runs) => runs.map((scores) => scores.filter((score) => score !== null)));
    const means = scored.map((runs) => runs.filter(({ length }) => length > 0).map(mean));
    const { statistics, comparison, runs } = await told(rows);
    const shown = JSON.stringify(rows);
    const all = scored.flat(2);
    const { n, scores = n, scored: ofRuns = scores } = statistics as { n: number; scores?: number; scored?: number };
    const withScore = means.flat().length;
    expect([shown, runs, scores, ofRuns]).toEqual([shown, rows.flat().length, all.length, withScore]);
    expect([shown, statistics.avg]).toEqual([shown, expect.closeTo(mean(all), 10)]);
    const [result] = comparison.keys[0].results;
    const rowMeans = means.filter(({ length }) => length > 0).map(mean);
    expect([shown, result.scored, result.runs, result.scores ?? result.runs]).toEqual([
      ...[shown, rowMeans.length, withScore, all.length],
    ]);
    expect([shown, result.mean]).toEqual([shown, expect.closeTo(mean(rowMeans), 10)]);
    const repeated = means.filter(({ length }) => length > 1).map(deviation);
    expect([shown, result.spread]).toEqual([shown, repeated.length ? expect.closeTo(mean(repeated), 10) : undefined]);
  }
});
