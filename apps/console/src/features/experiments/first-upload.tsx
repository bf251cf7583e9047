import { Copy } from '../../ui/parts';
import css from './experiments.module.css';

const UPLOAD = {
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

/** What a workspace without experiments shows; the first one takes its place by itself. */
export function FirstUpload() {
  const command = [
    `curl -sS ${window.location.origin}/api/v1/datasets/upload-experiment \\`,
    `  -H "x-api-key: $FAIRLEAD_KEY" -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(UPLOAD)}'`,
  ].join('\n');
  return (
    <section className={css.first}>
      <h2>No experiment yet</h2>
      <p>
        Upload the rows of an evaluation that ran anywhere: inputs, outputs and scores. This one has a single row; your
        key goes into <code>FAIRLEAD_KEY</code>.
      </p>
      <pre tabIndex={0}>{command}</pre>
      <div className={css.tools}>
        <Copy text={command}>Copy</Copy>
        <span role="status" className={css.waiting}>
          Waiting for it …
        </span>
      </div>
    </section>
  );
}
