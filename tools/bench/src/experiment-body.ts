/**
 * The body of an upload: `rows` rows of about 2.1 kB with three scores each. `name` makes it an upload of its own, and
 * `shift` lets its scores differ from those of others.
 */
export function experimentBody(rows: number, name: string, shift = 0): Buffer {
  const parts = [
    `{"experiment_name":${JSON.stringify(name)},"dataset_name":"bench ${rows}",` +
      '"experiment_start_time":"2026-01-01T00:00:00Z","experiment_end_time":"2026-01-03T00:00:00Z","results":[',
  ];
  for (let n = 0; n < rows; n++) parts.push((n ? ',' : '') + JSON.stringify(row(n, n + shift)));
  parts.push(']}');
  return Buffer.from(parts.join(''));
}

const PROSE =
  'A patient agent answers every question that it is asked, says where it looked, and admits what it does not know. ';

function row(n: number, score: number) {
  const start = Date.UTC(2026, 0, 1) + n;
  return {
    row_id: `10000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
    inputs: { question: `${n}: ${PROSE.repeat(6)}`, context: [PROSE.repeat(2), PROSE.repeat(2)], k: n },
    expected_outputs: { answer: PROSE },
    actual_outputs: { answer: PROSE, reasoning: PROSE.repeat(3) },
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + 100 + (n % 900)).toISOString(),
    evaluation_scores: [
      { key: 'correct', score: score % 3 ? 1 : 0 },
      { key: 'similarity', score: (score % 100) / 100, comment: 'close' },
      { key: 'tone', score: (score % 7) / 7 },
    ],
    run_metadata: { n },
  };
}
