import { csvOf } from './csv';

const experiment = (name: string, more: object) =>
  ({
    ...{ id: 'e1', name, dataset_name: 'questions', start_time: '2026-01-01T00:00:00Z', run_count: 2, error_rate: 0.5 },
    ...{
      latency_p50: 1.5,
      latency_p99: null,
      total_tokens: 30,
      total_cost: '0.5',
      feedback_stats: {},
      session_feedback_stats: {},
      extra: null,
      ...more,
    },
  }) as unknown as Parameters<typeof csvOf>[0][number];

it('has a line for each experiment, with all scores and metadata, and no formulas', () => {
  const text = csvOf([
    experiment('=1+1', { feedback_stats: { correct: { avg: 0.25 } } }),
    experiment('a "b", c', { extra: { metadata: { model: 'm', k: 8 } } }),
  ]);
  expect(text.split('\r\n')).toEqual([
    'id,name,dataset,started,rows,error_rate,latency_p50,latency_p99,total_tokens,total_cost,score:correct,metadata:k,metadata:model',
    "e1,'=1+1,questions,2026-01-01T00:00:00Z,2,0.5,1.5,,30,0.5,0.25,,",
    'e1,"a ""b"", c",questions,2026-01-01T00:00:00Z,2,0.5,1.5,,30,0.5,,8,m',
    '',
  ]);
});
