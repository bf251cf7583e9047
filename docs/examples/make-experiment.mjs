// Prints an experiment to upload: node docs/examples/make-experiment.mjs [rows] [name] [seed]
// The same dataset and row ids each time, so that experiments of different names and seeds can be compared.
const [rows = '100', name = 'example experiment', seed = '1'] = process.argv.slice(2);

let state = Number(seed);
function random() {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 2147483648;
}

const start = Date.UTC(2026, 0, 1);
const words =
  'the quick brown fox jumps over the lazy dog while a patient agent answers every question it is asked'.split(' ');
const sentence = (length) => Array.from({ length }, () => words[Math.floor(random() * words.length)]).join(' ');

process.stdout.write(
  `{"experiment_name":${JSON.stringify(name)},"dataset_name":"example dataset",` +
    `"experiment_start_time":"2026-01-01T00:00:00Z","experiment_end_time":"2026-01-02T00:00:00Z",` +
    `"experiment_metadata":{"model":"example-1","seed":${seed}},` +
    `"summary_experiment_scores":[{"key":"overall","score":0.8}],"results":[`,
);
for (let n = 0; n < Number(rows); n++) {
  const began = start + n;
  const correct = random() < 0.8;
  const row = {
    row_id: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
    inputs: { question: sentence(80), context: [sentence(60), sentence(60)] },
    expected_outputs: { answer: sentence(20) },
    actual_outputs: { answer: sentence(20), reasoning: sentence(60) },
    start_time: new Date(began).toISOString(),
    end_time: new Date(began + 200 + Math.floor(random() * 3000)).toISOString(),
    evaluation_scores: [
      { key: 'correct', score: correct ? 1 : 0 },
      { key: 'similarity', score: Number(random().toFixed(3)), comment: sentence(4) },
      { key: 'tone', value: random() < 0.5 ? 'friendly' : 'neutral' },
    ],
    run_metadata: { row: n },
  };
  if (n % 50 === 49) Object.assign(row, { error: 'the model did not answer in time', actual_outputs: undefined });
  process.stdout.write((n ? ',' : '') + JSON.stringify(row));
}
process.stdout.write(']}\n');
