/** Body of a small experiment that the banner and the console offer as a first upload. */
export const FIRST_UPLOAD = {
  experiment_name: 'first-experiment',
  dataset_name: 'first-dataset',
  experiment_start_time: '2026-01-01T12:00:00Z',
  experiment_end_time: '2026-01-01T12:05:00Z',
  results: [
    {
      row_id: '0196b1f0-0000-7000-8000-000000000001',
      inputs: { question: 'What is the capital of France?' },
      expected_outputs: { answer: 'Paris' },
      actual_outputs: { answer: 'Paris' },
      evaluation_scores: [{ key: 'correct', score: 1 }],
      start_time: '2026-01-01T12:01:00Z',
      end_time: '2026-01-01T12:01:02Z',
    },
  ],
};
