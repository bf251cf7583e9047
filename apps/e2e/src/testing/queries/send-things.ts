import { until } from '@fairlead/postgres/testing';
import type { Installation } from '@fairlead/service/testing';
import { allSessions, type Feedback, iso, micros, ROWS, type Run, type Session, type Things, WRITERS } from './things';

/** Sends the things to an installation, and writes down the ids and times that the service gives them. */
export async function sendThings(installation: Installation, things: Things): Promise<void> {
  const ask = installation.ask.bind(installation);
  const { id: dataset } = await ask('POST', '/api/v1/datasets', { name: 'examples of queries' });
  things.dataset = dataset;
  const bodies = things.examples.map(({ id, writer, inputs, outputs, metadata, splits }) =>
    WRITERS[writer]!({
      ...{ id, dataset_id: dataset, inputs, outputs, metadata },
      split: splits.length > 0 ? splits : null,
    }),
  );
  for (let at = 0; at < bodies.length; at += 8) {
    await ask('POST', '/api/v1/examples/bulk', `[${bodies.slice(at, at + 8).join()}]`);
  }
  for (const session of [...things.projects, ...things.experiments, ...things.empty]) {
    const isExperiment = !things.projects.includes(session);
    await ask('POST', '/api/v1/sessions', {
      ...{ id: session.id, name: session.name, description: session.description, start_time: session.start },
      extra: { metadata: session.metadata },
      ...(isExperiment && { reference_dataset_id: dataset }),
    });
    if (isExperiment) session.dataset = dataset;
    for (let at = 0; at < session.runs.length; at += 50) {
      const post = session.runs.slice(at, at + 50).map((run, _, batch) => WRITERS[run.writer]!(runBody(run, batch)));
      await ask('POST', '/api/v1/runs/batch', `{"post":[${post.join()}]}`);
    }
  }
  for (const upload of things.uploads) await sendUpload(installation, upload);
  await until(
    async () => {
      const listed = await ask('GET', '/api/v1/sessions?limit=100');
      const counts = new Map(
        (listed as { id: string; run_count: number | null }[]).map((one) => [one.id, one.run_count]),
      );
      return allSessions(things).every(
        ({ id, runs }) => counts.get(id) === runs.filter(({ parent }) => parent === null).length,
      );
    },
    (isStored) => isStored,
  );
  for (const session of things.uploads) await readIds(installation, session);
  for (const session of [...things.projects, ...things.experiments, ...things.empty]) {
    if (session.dataset !== null) for (const run of session.runs) run.dataset = session.dataset;
    for (const run of session.runs) {
      for (const one of run.feedback)
        await ask('POST', '/api/v1/feedback', { ...feedbackBody(one), id: one.id, run_id: run.id });
    }
    for (const one of session.feedback) {
      await ask('POST', '/api/v1/feedback', { ...feedbackBody(one), id: one.id, session_id: session.id });
    }
  }
  const listed = await ask('GET', `/api/v1/examples?dataset=${dataset}&limit=100`);
  const examples = new Map((listed as Listed[]).map((one) => [one.id, one]));
  for (const example of things.examples) {
    const { name, created_at, modified_at } = examples.get(example.id)!;
    Object.assign(example, { name, created: iso(micros(created_at)), modified: iso(micros(modified_at)) });
  }
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly modified_at: string;
}

function dottedOrder(run: Run, runs: readonly Run[]): string {
  const names = [...run.below, run.id].map((id) => {
    const { start } = runs.find((one) => one.id === id)!;
    return `${start.replaceAll(/[-:.Z]/g, '')}Z${id}`;
  });
  return names.join('.');
}

function runBody(run: Run, batch: readonly Run[]) {
  const isKnown = run.below.every((id) => batch.some((one) => one.id === id));
  return {
    ...{ id: run.id, session_id: run.session, name: run.name, run_type: run.type, start_time: run.start },
    ...(run.end !== null && { end_time: run.end }),
    ...(run.error !== null && { error: run.error }),
    inputs: run.inputs,
    ...(run.outputs !== null && { outputs: run.outputs }),
    ...(run.metadata !== null && { extra: { metadata: run.metadata } }),
    ...(run.tags !== null && { tags: run.tags }),
    ...(run.parent !== null && { parent_run_id: run.parent, trace_id: run.trace }),
    ...(isKnown && { trace_id: run.trace ?? run.id, dotted_order: dottedOrder(run, batch) }),
    ...(run.example !== null && { reference_example_id: run.example }),
  };
}

function feedbackBody({ key, score, value, comment, source, created }: Feedback) {
  return { key, score, value, comment, feedback_source: { type: source }, created_at: created, modified_at: created };
}

async function sendUpload(installation: Installation, upload: Session): Promise<void> {
  const results = upload.runs.map((run) =>
    WRITERS[run.writer]!({
      row_id: rowId(run.row!),
      inputs: run.inputs,
      expected_outputs: { row: run.row },
      actual_outputs: run.outputs,
      evaluation_scores: run.feedback.map(feedbackBody),
      ...{ start_time: run.start, end_time: run.end, run_name: run.name, error: run.error, run_metadata: run.metadata },
    }),
  );
  const head = JSON.stringify({
    experiment_name: upload.name,
    experiment_description: upload.description,
    dataset_name: 'rows of uploads',
    experiment_start_time: upload.start,
    experiment_end_time: upload.end,
    experiment_metadata: upload.metadata,
    summary_experiment_scores: upload.feedback.map(feedbackBody),
  });
  const body = `${head.slice(0, -1)},"results":[${results.join()}]}`;
  const { experiment, dataset } = await installation.ask('POST', '/api/v1/datasets/upload-experiment', body);
  Object.assign(upload, { id: experiment.id, dataset: dataset.id });
  for (const run of upload.runs) Object.assign(run, { session: experiment.id, dataset: dataset.id });
}

const rowId = (row: number) => `00000000-0000-4000-8000-${String(row + 1).padStart(12, '0')}`;

/** The ids of the runs of an upload, which are found by the numbers in their metadata, and those of their examples. */
async function readIds(installation: Installation, upload: Session): Promise<void> {
  const { runs } = await installation.ask('POST', '/api/v1/runs/query', { session: [upload.id], limit: 100 });
  interface Found {
    readonly id: string;
    readonly reference_example_id: string;
    readonly extra: { readonly metadata: { readonly number: number } };
  }
  for (const found of runs as Found[]) {
    const run = upload.runs[found.extra.metadata.number]!;
    Object.assign(run, { id: found.id, example: found.reference_example_id });
  }
  const pairs = new Set(upload.runs.map(({ row, example }) => `${row} ${example}`));
  if (pairs.size !== new Set(upload.runs.map(({ row }) => row)).size || pairs.size > ROWS) {
    throw new Error(`Rows and examples of ${upload.name} are not in pairs: ${[...pairs].join(', ')}`);
  }
}
