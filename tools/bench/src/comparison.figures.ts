import { v7 as uuid } from 'uuid';
import type { BenchServer } from './bench-server';
import { experimentBody } from './experiment-body';
import { uploaded } from './experiments.figures';
import { type Figure, median, seconds, shown } from './figure';
import { psql } from './programs';

const EXPERIMENTS = 5;
const ROWS = 20_000;
const PAGE = 20;

/** The first page of a comparison that was not made before, against plain SQL for the same numbers and order of rows. */
export async function compareFigures(server: BenchServer, databaseUrl: string): Promise<Figure[]> {
  const ids: string[] = [];
  for (let n = 0; n < EXPERIMENTS; n++) {
    const { session } = await uploaded(server, experimentBody(ROWS, `compared ${n} ${uuid()}`, n));
    ids.push(session);
  }
  const { reference_dataset_id: dataset } = await server.send<{ reference_dataset_id: string }>(
    'GET',
    `/api/v1/sessions/${ids[0]}`,
  );
  await psql(databaseUrl, 'analyze runs, feedback');
  const ours: number[] = [];
  const bare: number[] = [];
  for (const baseline of ids) {
    const query = `experiments=${ids.join(',')}&baseline=${baseline}&limit=${PAGE}`;
    ours.push(await seconds(() => server.send('GET', `/api/v1/datasets/${dataset}/compare?${query}`)));
    bare.push(await seconds(() => psql(databaseUrl, ...statements(ids, baseline))));
  }
  const times = ours.map((time, n) => `${shown(time * 1000)} ms, SQL ${shown(bare[n]! * 1000)} ms`).join('; ');
  const name = `first page of comparing ${EXPERIMENTS} experiments of ${ROWS.toLocaleString('en')} rows`;
  return [
    { name, value: median(ours) * 1000, unit: 'ms', goal: { atMost: 500 }, detail: times },
    {
      name: 'the same, against plain SQL by psql',
      value: median(ours.map((time, n) => time / bare[n]!)),
      unit: '',
      goal: { atMost: 3 },
      detail: 'means, differences, better and worse by key and experiment, and the worst rows',
    },
  ];
}

/** Statements that one would write by hand: the numbers by key and experiment, then the page of the worst rows. */
function statements(ids: readonly string[], baseline: string): string[] {
  const all = ids.map((id) => `'${id}'`).join(',');
  return [
    `create temp table scored as
     select r.session_id, r.example_id, f.key, avg(f.score) as score
     from runs r join feedback f on f.run_id = r.id and f.session_id = r.session_id
     where r.session_id in (${all}) and f.score is not null group by 1, 2, 3`,
    `create temp table compared as
     select s.session_id, s.example_id, s.key, s.score, s.score - b.score as difference
     from scored s join scored b on b.session_id = '${baseline}' and b.example_id = s.example_id and b.key = s.key`,
    `select session_id, key, count(*), avg(score), avg(difference), stddev(difference),
       count(*) filter (where difference > 0), count(*) filter (where difference < 0)
     from compared group by 1, 2`,
    `select session_id, percentile_cont(0.5) within group (order by end_time - start_time),
       percentile_cont(0.99) within group (order by end_time - start_time)
     from runs where session_id in (${all}) group by 1`,
    `with worst as (select example_id, min(difference) as regression from compared group by 1 order by 2 limit ${PAGE})
     select w.regression, left(e.inputs, 2000), r.session_id, r.status, left(r.outputs, 2000)
     from worst w join examples e on e.id = w.example_id and e.valid_to is null
     join runs r on r.example_id = w.example_id and r.session_id in (${all})`,
  ];
}
