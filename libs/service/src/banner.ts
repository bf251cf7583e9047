import type { AdminKey } from './admin-key';

const FIRST_UPLOAD = {
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

/** What `npm start` prints once the server answers: its address, where the key is, and commands to paste into a shell. */
export function banner(url: string, key: AdminKey): string {
  const header = `-H "x-api-key: ${key.file === undefined ? '$FAIRLEAD_API_KEY' : `$(cat ${quote(key.file)})`}"`;
  const where = key.file === undefined ? 'the one in FAIRLEAD_API_KEY' : `in ${key.file}`;
  return [
    '',
    `Fairlead is ready at ${url}`,
    key.isNew ? `API key: ${key.text} (shown once; kept ${where})` : `API key: ${where}`,
    `The API, to read and to try out: ${url}/docs`,
    '',
    'Upload a first experiment:',
    `  curl -sS ${url}/api/v1/datasets/upload-experiment ${header} -H 'content-type: application/json' -d ${quote(JSON.stringify(FIRST_UPLOAD))}`,
    '',
    'List the deployments:',
    `  curl -sS ${url}/v2/deployments ${header}`,
    '',
  ].join('\n');
}

/** For a POSIX shell, also within $( ) between double quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
