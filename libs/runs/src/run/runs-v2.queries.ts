import type { Pool } from 'pg';
import { runFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import type { AttachmentLinks } from '../persist/attachments.service';
import { batches, pieces, type Sized } from '../persist/pieces';
import type { RunRow } from './run-json';
import { readRuns } from './runs.queries';
import { READ_FOR, runV2Json, type V2Select } from './runs-v2-json';

export interface Rendering {
  readonly pool: Pool;
  readonly tenantId: string;
  readonly selects: readonly V2Select[];
  readonly links: AttachmentLinks;
  readonly shareUrls?: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** Returns a page of runs as JSON text, in pieces; `more` holds further members. */
export function pageV2(rendering: Rendering, runs: readonly Sized[], more = ''): AsyncGenerator<string> {
  const render = (group: readonly Sized[]) => renderRunsV2(rendering, idsOf(group));
  return pieces('{"items":[', batches(runs), render, `]${more}}`);
}

export async function renderRunsV2(rendering: Rendering, ids: readonly string[]): Promise<string[]> {
  const needed = new Set(rendering.selects.flatMap((select) => READ_FOR[select] ?? []));
  return renderRowsV2(rendering, await readRuns(rendering.pool, rendering.tenantId, ids, needed));
}

export async function renderRowsV2(rendering: Rendering, rows: readonly RunRow[]): Promise<string[]> {
  const { pool, tenantId, selects, links, shareUrls } = rendering;
  const shown = new Set(selects);
  const ids = idsOf(rows);
  const statistics = shown.has('FEEDBACK_STATS') ? await runFeedbackStatistics(pool, tenantId, ids) : undefined;
  const shared = shown.has('SHARE_URL') ? await shareUrls?.(ids) : undefined;
  return Promise.all(
    rows.map(async (row) => runV2Json(row, shown, statistics?.get(row.id), await links(row), shared?.get(row.id))),
  );
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
