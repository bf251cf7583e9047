import type { Schemas } from '../../api/client';

type Experiment = Schemas['ListedExperiment'];

/** Experiments as CSV: a line for each, with the mean of every score that one of them has, and their metadata. */
export function csvOf(experiments: readonly Experiment[]): string {
  const scores = [...new Set(experiments.flatMap((one) => Object.keys(scoresOf(one))))].sort();
  const metadata = [...new Set(experiments.flatMap((one) => Object.keys(metadataOf(one))))].sort();
  const head = ['id', 'name', 'dataset', 'started', 'rows', 'error_rate', 'latency_p50', 'latency_p99'];
  head.push('total_tokens', 'total_cost');
  const lines = experiments.map((one) => [
    ...[one.id, one.name, one.dataset_name, one.start_time, one.run_count, one.error_rate],
    ...[one.latency_p50, one.latency_p99, one.total_tokens, one.total_cost === null ? null : Number(one.total_cost)],
    ...scores.map((key) => scoresOf(one)[key]?.avg),
    ...metadata.map((key) => metadataOf(one)[key]),
  ]);
  const titles = [...head, ...scores.map((key) => `score:${key}`), ...metadata.map((key) => `metadata:${key}`)];
  return [titles, ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

function scoresOf({ feedback_stats, session_feedback_stats }: Experiment) {
  return { ...session_feedback_stats, ...feedback_stats } as Readonly<Record<string, { avg: number | null }>>;
}

function metadataOf({ extra }: Experiment): Readonly<Record<string, unknown>> {
  const { metadata } = (extra ?? {}) as { metadata?: unknown };
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
}

/** A cell. Text that a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
