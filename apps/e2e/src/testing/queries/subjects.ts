import { type Family, shown, type Subject, textsOf } from './matches';
import { latenciesOf, latencyOf, meansOf } from './statistics';
import { type Example, type Feedback, type Members, micros, type Run, type Session } from './things';

const elementsOf = (side: string, json: Members | null): Family => ({
  key: `${side}_key`,
  elements: Object.entries(json ?? {}).map(([name, value]) => ({
    [`${side}_key`]: name,
    [`${side}_value`]: shown(value),
  })),
});

const feedbackOf = (given: readonly Feedback[]): Family => ({
  key: 'feedback_key',
  elements: given.map(({ key, score, value, source }) => ({
    ...{ feedback_key: key, feedback_score: score, feedback_source: source },
    feedback_value: value === null ? null : String(value),
  })),
});

function statusOf({ error, end }: Run): string {
  return error !== null ? 'error' : end === null ? 'pending' : 'success';
}

const USAGE = ['total', 'input', 'output'] as const;

/** The tokens and the cost that a run itself says it used, live or in an upload. */
export function usedBy({
  outputs,
}: Run): { total: number; input: number; output: number; cost: number | null } | undefined {
  const usage = outputs?.usage_metadata as Members | undefined;
  if (!usage) return undefined;
  const [total, input, output] = USAGE.map((name) => Number(usage[`${name}_tokens`] ?? 0));
  return { total: total!, input: input!, output: output!, cost: (usage.total_cost as number | undefined) ?? null };
}

export function runSubject(run: Run): Subject {
  const used = usedBy(run);
  const metadata = run.metadata ?? {};
  const thread = metadata.session_id ?? metadata.thread_id ?? null;
  return {
    fields: {
      ...{ id: run.id, trace_id: run.trace ?? run.id, parent_run_id: run.parent, session_id: run.session },
      ...{ reference_example_id: run.example, reference_dataset_id: run.dataset, name: run.name, run_type: run.type },
      ...{ status: statusOf(run), error: run.error, start_time: micros(run.start) },
      ...{ end_time: run.end === null ? null : micros(run.end), latency: latencyOf(run), is_root: run.parent === null },
      ...{ thread_id: thread as string | null, execution_order: 1, total_tokens: used?.total ?? 0 },
      ...{ prompt_tokens: used?.input ?? 0, completion_tokens: used?.output ?? 0, total_cost: used?.cost ?? 0 },
    },
    families: [
      feedbackOf(run.feedback),
      elementsOf('input', run.inputs),
      elementsOf('output', run.outputs),
      elementsOf('metadata', run.metadata),
    ],
    paths: { 'extra.metadata': run.metadata },
    json: { metadata: run.metadata, tags: run.tags ?? [] },
    texts: [run.name, ...[run.error, run.inputs, run.outputs].flatMap((json) => textsOf(json, run.writer))],
  };
}

/** The metadata of an example as answers show them: one in no split is in `base`. */
export function shownMetadata({ metadata, splits }: Example): Members {
  return { ...metadata, dataset_split: splits.length > 0 ? splits : ['base'] };
}

export function exampleSubject(example: Example): Subject {
  const metadata = shownMetadata(example);
  const { id, name, inputs, outputs, writer } = example;
  return {
    fields: { id, name, created_at: micros(example.created), modified_at: micros(example.modified) },
    families: [elementsOf('metadata', metadata)],
    paths: { metadata },
    json: { metadata },
    texts: [name, ...textsOf(inputs, writer), ...textsOf(outputs, writer)],
  };
}

export function sessionSubject(session: Session): Subject {
  const roots = session.runs.filter(({ parent }) => parent === null);
  const { latency_p50, latency_p99, error_rate } = latenciesOf(roots);
  const { id, name, description, metadata, dataset, runs, feedback } = session;
  const means = [runs.flatMap((run) => run.feedback), feedback].flatMap((given) => [...meansOf(given)]);
  return {
    fields: {
      ...{ id, name, description, start_time: micros(session.start), reference_dataset_id: dataset },
      end_time: session.end === null ? null : micros(session.end),
      ...{ run_count: roots.length, latency_p50, latency_p99, error_rate },
    },
    families: [
      elementsOf('metadata', metadata),
      {
        key: 'feedback_key',
        elements: means.map(([key, mean]) => ({ feedback_key: key, feedback_score: mean })),
      },
    ],
    paths: { 'extra.metadata': metadata },
    json: { metadata },
    texts: [name, description],
  };
}
