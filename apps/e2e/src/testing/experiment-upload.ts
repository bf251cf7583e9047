import type { Answer, Request } from './courier';
import type { Random } from './fuzz/random';

/** Rows of a dataset that its experiments choose from. */
const ROWS = 12;

interface Row {
  readonly seconds: number;
  readonly failed: boolean;
  readonly correct: number;
}

/** One small experiment that a client uploads, and what must be known of it afterwards. */
export class ExperimentUpload {
  readonly name: string;
  readonly dataset: string;
  readonly rowIds: ReadonlySet<string>;
  /** Ids in the acknowledged answer. */
  answer: { experiment: string; dataset: string } | undefined;
  private readonly rows: readonly Row[];
  private readonly body: string;
  private readonly withKey: boolean;

  constructor(
    readonly number: number,
    random: Random,
  ) {
    const dataset = random.below(4);
    this.name = `experiment ${number}`;
    this.dataset = `dataset ${dataset}`;
    this.rows = Array.from({ length: 1 + random.below(15) }, () => ({
      seconds: random.below(5000) / 1000,
      failed: random.oneIn(6),
      correct: random.below(2),
    }));
    const results = this.rows.map((row) => resultOf(row, dataset, random.below(ROWS), random.below(3)));
    this.rowIds = new Set(results.map(({ row_id }) => row_id));
    this.withKey = random.oneIn(2);
    this.body = JSON.stringify({
      experiment_name: this.name,
      dataset_name: this.dataset,
      experiment_start_time: '2026-01-01T00:00:00Z',
      experiment_end_time: '2026-01-02T00:00:00Z',
      results,
      summary_experiment_scores: [{ key: 'overall', score: number }],
    });
  }

  async send(deliver: (request: Request) => Promise<Answer>): Promise<void> {
    const { status, json } = await deliver({
      method: 'POST',
      path: '/api/v1/datasets/upload-experiment',
      body: this.body,
      headers: this.withKey ? { 'idempotency-key': this.name } : {},
    });
    if (status !== 200 || json.experiment.name !== this.name) {
      throw new Error(`Unexpected answer ${status}: ${JSON.stringify(json)}`);
    }
    this.answer = { experiment: json.experiment.id, dataset: json.dataset.id };
  }

  /** The members of the session that its rows decide. */
  get statistics() {
    const { rows } = this;
    const seconds = rows.map((row) => row.seconds).sort((a, b) => a - b);
    return {
      run_count: rows.length,
      latency_p50: expect.closeTo(percentile(seconds, 0.5), 6),
      latency_p99: expect.closeTo(percentile(seconds, 0.99), 6),
      error_rate: expect.closeTo(mean(rows.map(({ failed }) => Number(failed))), 9),
      feedback_stats: {
        correct: expect.objectContaining({
          n: rows.length,
          avg: expect.closeTo(mean(rows.map((row) => row.correct)), 9),
        }),
      },
      session_feedback_stats: { overall: expect.objectContaining({ n: 1, avg: this.number }) },
    };
  }
}

/** Inputs change between uploads, so that the examples of a dataset get new versions. */
function resultOf({ seconds, failed, correct }: Row, dataset: number, row: number, version: number) {
  return {
    row_id: `0000000${dataset}-0000-4000-8000-${String(row).padStart(12, '0')}`,
    inputs: { question: row, version },
    expected_outputs: { answer: row },
    actual_outputs: { answer: correct ? row : null },
    evaluation_scores: [{ key: 'correct', score: correct }],
    start_time: '2026-01-01T10:00:00.000Z',
    end_time: new Date(Date.UTC(2026, 0, 1, 10) + seconds * 1000).toISOString(),
    ...(failed && { error: 'It failed.' }),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Percentile of sorted values, between neighbours by proportion. */
function percentile(values: readonly number[], fraction: number): number {
  const place = fraction * (values.length - 1);
  const [below, above] = [values[Math.floor(place)]!, values[Math.ceil(place)]!];
  return below + (above - below) * (place - Math.floor(place));
}
