import type { Pool } from 'pg';
import { exampleMembers, readCurrentExamples } from '@fairlead/datasets';
import {
  array,
  type AttachmentLinks,
  attachmentUrls,
  feedbackColumns,
  feedbackJson,
  type FeedbackRow,
  object,
  preview,
  raw,
  readRuns,
  runFeedbackStatistics,
  runMembers,
  type RunRow,
  text,
} from '@fairlead/runs';
import { LEFT_OUT } from './compared-runs.answers.schema';
import type { ViewFilter } from './comparison-view.queries';

type Viewed = Pick<ViewFilter, 'datasetId' | 'sessionIds'>;

interface Shown {
  readonly preview: boolean;
  /** Feedback of this comparison, beside that on each run by itself. */
  readonly comparative_experiment_id?: string;
  readonly links: AttachmentLinks;
}

const PREVIEW_BYTES = 1024;

export function renderView(
  pool: Pool,
  tenantId: string,
  view: Viewed,
  examples: readonly { readonly id: string }[],
  shown: Shown,
): Promise<string[]> {
  const render = (runs: readonly RunRow[]) => renderRuns(pool, tenantId, runs, shown);
  return renderExamples(pool, tenantId, view, examples, render, shown.preview);
}

export async function renderExamples(
  pool: Pool,
  tenantId: string,
  { datasetId, sessionIds }: Viewed,
  shown: readonly { readonly id: string }[],
  render: (runs: readonly RunRow[]) => Promise<readonly string[]>,
  short = false,
): Promise<string[]> {
  const ids = shown.map(({ id }) => id);
  const [examples, keys] = await Promise.all([
    readCurrentExamples(pool, tenantId, datasetId, ids),
    pool.query<{ id: string }>(
      `select id from runs
       where tenant_id = $3 and example_id = any($1::uuid[]) and session_id = any($2::uuid[]) and parent_run_id is null
       order by array_position($1::uuid[], example_id), array_position($2::uuid[], session_id), row_number, id`,
      [ids, sessionIds, tenantId],
    ),
  ]);
  const runs = await readRuns(
    pool,
    tenantId,
    keys.rows.map(({ id }) => id),
  );
  const rendered = await render(runs);
  const byExample = new Map<string, string[]>();
  runs.forEach((run, index) => {
    const list = byExample.get(run.example_id ?? '') ?? [];
    list.push(rendered[index] ?? 'null');
    byExample.set(run.example_id ?? '', list);
  });
  return ids.flatMap((id) => {
    const example = examples.get(id);
    if (!example) return [];
    const members = exampleMembers(example);
    const cut = short ? { inputs: shortened(members.inputs), outputs: shortened(members.outputs) } : {};
    return [object({ ...members, ...cut, runs: array(byExample.get(id) ?? []) })];
  });
}

async function renderRuns(pool: Pool, tenantId: string, runs: readonly RunRow[], shown: Shown): Promise<string[]> {
  const ids = runs.map(({ id }) => id);
  const [statistics, urls, feedback] = await Promise.all([
    runFeedbackStatistics(pool, tenantId, ids),
    Promise.all(runs.map(async (run) => attachmentUrls(await shown.links(run)))),
    pool.query<FeedbackRow>(
      `select ${feedbackColumns('$3')} from feedback f
       where f.run_id = any($1::uuid[]) and f.tenant_id = $3 and (f.comparative_experiment_id is null or f.comparative_experiment_id = $2)
       order by f.created_at desc, f.id desc`,
      [ids, shown.comparative_experiment_id ?? null, tenantId],
    ),
  ]);
  const byRun = new Map<string | null, FeedbackRow[]>();
  for (const row of feedback.rows) byRun.set(row.run_id, [...(byRun.get(row.run_id) ?? []), row]);
  return runs.map((run, nth) => {
    const members: Record<string, string> = {
      ...runMembers(run, statistics.get(run.id), urls[nth]),
      feedbacks: array((byRun.get(run.id) ?? []).map(feedbackJson)),
    };
    for (const name of LEFT_OUT) delete members[name];
    if (!shown.preview) return object(members);
    const previews = {
      inputs_preview: text(preview(run.inputs, PREVIEW_BYTES)),
      outputs_preview: text(preview(run.outputs, PREVIEW_BYTES)),
    };
    return object({ ...members, ...previews, inputs: 'null', outputs: 'null' });
  });
}

/** An object as it is when it is short, else one that holds its beginning as text. */
function shortened(json: string | undefined): string {
  if (json === undefined || json.length <= PREVIEW_BYTES) return raw(json);
  return object({ preview: text(preview(json, PREVIEW_BYTES)) });
}
