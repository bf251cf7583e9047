import type { Pool } from 'pg';
import { FilterError } from '../common/filter.errors';
import { compileFilter } from '../common/filter-sql';
import { runFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import { answer, batches, type Sized } from '../persist/pieces';
import { object, nulled, text } from '../common/platform-json';
import { encodeCursor, type RunCursor } from './run-cursor';
import { attachmentUrls, type AttachmentLinks } from '../persist/attachments.service';
import { ALWAYS_SHOWN, leftOutMember, NEVER_NULL, RUN_PLACE, runMembers, SELECTED_AS, type RunRow } from './run-json';
import { runUsage, USAGE_MEMBERS } from '../common/run-usage';
import { boundedVocabulary, runInputs, runVocabulary } from './runs-vocabulary';
import { all, isoTime, ofSession, Parameters } from '../common/sql';

/** Which runs. Times are ISO texts; `startTime` and `endTime` bound the start of the run, both inclusive. */
export interface RunFilter {
  readonly id?: readonly string[];
  readonly trace?: string;
  readonly parentRun?: string;
  /** This run, and those below it in its trace. */
  readonly below?: string;
  readonly runType?: readonly string[];
  readonly session?: readonly string[];
  readonly referenceExample?: readonly string[];
  readonly startTime?: string;
  readonly endTime?: string;
  readonly error?: boolean;
  readonly isRoot?: boolean;
  readonly referenceDataset?: string;
  /** Filters in the SDKs' language; a run has to meet all of them, the root of its trace `ofRoot`, any run of it `ofTree`. */
  readonly filters: readonly string[];
  readonly ofRoot?: string;
  readonly ofTree?: string;
  /** Conditions on feedback in the filters speak of feedback modified since the one time and before the other. */
  readonly feedbackFrom?: string;
  readonly feedbackBefore?: string;
}

export interface RunPage {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly cursor?: RunCursor;
  readonly select?: readonly string[];
  readonly skipPrevious: boolean;
}

interface RunKey extends Sized {
  readonly time: string;
}

const TIME = isoTime('r.start_time');
/** SQL about a run `r` of the workspace `$2`. */
const DIRECT_CHILDREN = `(select json_agg(c.id order by c.start_time, c.id)::text from runs c
  where c.tenant_id = $2 and c.parent_run_id = r.id)`;
const ATTACHMENTS = `(select json_agg(json_build_object('name', a.name, 'type', a.type) order by a.name)
  from run_attachments a where a.tenant_id = $2 and a.run_id = r.id)`;
/** The runs below a run are those of its trace when it is the root, else those whose dotted orders begin with its own. */
const CHILDREN = `(select json_agg(c.id order by c.start_time, c.id)::text from runs c
  where c.tenant_id = $2 and c.trace_id = coalesce(r.trace_id, r.id) and c.id <> r.id
    and (r.parent_run_id is null or c.parent_run_id = r.id or starts_with(c.dotted_order, r.dotted_order || '.')))`;

/**
 * A page of the tenant's runs by start time and id, as the text of a ListRunsResponse or pieces of it when it is long.
 * `cursors.next` is null only on the last page. @throws FilterError
 */
export async function queryRuns(
  pool: Pool,
  tenantId: string,
  filter: RunFilter,
  page: RunPage,
  links: AttachmentLinks,
): Promise<string | AsyncGenerator<string>> {
  const { keys, next, previous } = await findRunPage(pool, tenantId, filter, page);
  const cursors = object({ next: text(next), prev: text(previous) });
  const shown = page.select && selection(page.select);
  return answer(
    '{"runs":[',
    batches(keys),
    (group) =>
      renderRuns(
        pool,
        tenantId,
        group.map(({ id }) => id),
        links,
        shown,
      ),
    `],"cursors":${cursors},"search_cursors":null,"parsed_query":null}`,
  );
}

/** Keys of the runs on a page and cursors to the pages around it. @throws FilterError */
export async function findRunPage(
  pool: Pool,
  tenantId: string,
  filter: RunFilter,
  page: Omit<RunPage, 'select'>,
): Promise<{ keys: RunKey[]; next: string | null; previous: string | null }> {
  const backwards = page.cursor?.direction === 'prev';
  const found = await findKeys(pool, tenantId, filter, page, backwards);
  const more = found.length > page.limit;
  const keys = found.slice(0, page.limit);
  if (backwards) keys.reverse();
  const first = keys.at(0);
  const last = keys.at(-1);
  const next = last && (backwards || more) ? encodeCursor({ ...last, direction: 'next' }) : null;
  const hasPrevious = !page.skipPrevious && (backwards ? more : page.cursor !== undefined);
  const previous = first && hasPrevious ? encodeCursor({ ...first, direction: 'prev' }) : null;
  return { keys, next, previous };
}

export async function findRun(
  pool: Pool,
  tenantId: string,
  id: string,
  links: AttachmentLinks,
  sessionId?: string,
): Promise<string | undefined> {
  const { rowCount } = await pool.query(
    `select 1 from runs r where r.id = $1 and r.tenant_id = $2 and ($3::uuid is null or r.session_id = $3)
       and ${ofSession('r', '$2')}`,
    [id, tenantId, sessionId ?? null],
  );
  return rowCount ? (await renderRuns(pool, tenantId, [id], links))[0] : undefined;
}

/** Keys of one run more than the page holds, nearest to the cursor first. */
async function findKeys(
  pool: Pool,
  tenantId: string,
  filter: RunFilter,
  page: RunPage,
  backwards: boolean,
): Promise<RunKey[]> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const ascending = (page.order === 'asc') !== backwards;
  const order = (run: string) =>
    `${run}.start_time ${ascending ? 'asc' : 'desc'}, ${run}.id ${ascending ? 'asc' : 'desc'}`;
  const conditions = runConditions(filter, parameters, tenant);
  if (page.cursor) {
    const place = `(${parameters.add(page.cursor.time, 'timestamptz')}, ${parameters.add(page.cursor.id, 'uuid')})`;
    conditions.push(`(r.start_time, r.id) ${ascending ? '>' : '<'} ${place}`);
  }
  const limit = parameters.add(page.limit + 1);
  const sessions = filter.session?.length ? ` and s.id = any(${parameters.add(filter.session, 'uuid[]')})` : '';
  // By id and by example the runs are few; else each session gives its own first runs in the order of its index.
  const few = filter.id?.length || filter.referenceExample?.length || filter.trace || filter.parentRun;
  const source = few
    ? `runs r join sessions s on s.id = r.session_id where s.tenant_id = ${tenant} and r.tenant_id = ${tenant}${sessions} and ${all(conditions)}`
    : `sessions s cross join lateral (
         select * from runs r where r.tenant_id = ${tenant} and r.session_id = s.id and ${all(conditions)} order by ${order('r')} limit ${limit}
       ) r where s.tenant_id = ${tenant}${sessions}`;
  const { rows } = await pool.query<RunKey>(
    `select r.id, ${TIME} as time,
       coalesce(octet_length(${runInputs(tenant)}), 0) + coalesce(octet_length(r.outputs), 0)
         + coalesce(octet_length(r.extra), 0) + coalesce(octet_length(r.error), 0) as size
     from (select r.* from ${source} order by ${order('r')} limit ${limit}) r order by ${order('r')}`,
    parameters.values,
  );
  return rows;
}

/** Conditions on a run `r` of the workspace, without those on its session. @throws FilterError */
export function runConditions(filter: RunFilter, parameters: Parameters, tenant: string): string[] {
  const conditions: string[] = [];
  if (filter.id?.length) conditions.push(`r.id = any(${parameters.add(filter.id, 'uuid[]')})`);
  // A run that stands alone is the root of its own trace.
  if (filter.trace) {
    const trace = parameters.add(filter.trace, 'uuid');
    conditions.push(`(r.id = ${trace} or r.trace_id = ${trace})`);
  }
  if (filter.parentRun) conditions.push(`r.parent_run_id = ${parameters.add(filter.parentRun, 'uuid')}`);
  if (filter.below) {
    const top = parameters.add(filter.below, 'uuid');
    conditions.push(`(r.id = ${top} or exists (
      select 1 from runs t where t.id = ${top} and t.tenant_id = ${tenant} and r.trace_id = coalesce(t.trace_id, t.id)
        and (t.parent_run_id is null or r.parent_run_id = t.id or starts_with(r.dotted_order, t.dotted_order || '.'))))`);
  }
  if (filter.isRoot !== undefined) conditions.push(`r.parent_run_id is ${filter.isRoot ? '' : 'not '}null`);
  if (filter.runType !== undefined) conditions.push(`r.run_type = any(${parameters.add(filter.runType, 'text[]')})`);
  if (filter.referenceExample?.length) {
    conditions.push(`r.example_id = any(${parameters.add(filter.referenceExample, 'uuid[]')})`);
  }
  if (filter.referenceDataset) conditions.push(`r.dataset_id = ${parameters.add(filter.referenceDataset, 'uuid')}`);
  if (filter.startTime) conditions.push(`r.start_time >= ${parameters.add(filter.startTime, 'timestamptz')}`);
  if (filter.endTime) conditions.push(`r.start_time <= ${parameters.add(filter.endTime, 'timestamptz')}`);
  if (filter.error !== undefined) conditions.push(`r.error is ${filter.error ? 'not ' : ''}null`);
  const bounds: string[] = [];
  if (filter.feedbackFrom) bounds.push(`f.modified_at >= ${parameters.add(filter.feedbackFrom, 'timestamptz')}`);
  if (filter.feedbackBefore) bounds.push(`f.modified_at < ${parameters.add(filter.feedbackBefore, 'timestamptz')}`);
  const bounded = bounds.length > 0 ? boundedVocabulary(tenant, all(bounds)) : undefined;
  const vocabulary = bounded?.vocabulary ?? runVocabulary(tenant);
  const compiled = (source: string) => compileFilter(source, vocabulary, parameters);
  for (const source of filter.filters) conditions.push(compiled(source));
  if (filter.ofRoot) conditions.push(inTrace('r.id = own.trace', compiled(filter.ofRoot), tenant));
  if (filter.ofTree)
    conditions.push(inTrace('(r.id = own.trace or r.trace_id = own.trace)', compiled(filter.ofTree), tenant));
  if (bounded && !bounded.isUsed())
    throw new FilterError('min_feedback_modified_at and max_feedback_modified_at need a condition on feedback.');
  return conditions;
}

/** That some run of the trace of a run `r` meets a condition, which calls it `r` as well. */
function inTrace(which: string, condition: string, tenant: string): string {
  const own = '(select coalesce(r.trace_id, r.id) as trace) own';
  return `exists (select 1 from ${own} join runs r on ${which} and r.tenant_id = ${tenant} where ${condition})`;
}

function selection(select: readonly string[]): ReadonlySet<string> {
  return new Set([...ALWAYS_SHOWN, ...select.flatMap((name) => SELECTED_AS[name] ?? [name])]);
}

async function renderRuns(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
  links: AttachmentLinks,
  shown?: ReadonlySet<string>,
): Promise<string[]> {
  const [runs, statistics] = await Promise.all([
    readRuns(pool, tenantId, ids, shown),
    !shown || shown.has('feedback_stats') ? runFeedbackStatistics(pool, tenantId, ids) : new Map<string, string>(),
  ]);
  const urls = await Promise.all(runs.map(async (row) => attachmentUrls(await links(row))));
  const kept = shown && new Set([...shown, ...NEVER_NULL]);
  return runs.map((row, nth) => {
    const members = runMembers(row, statistics.get(row.id), urls[nth]);
    return object({ ...(kept ? nulled(members, kept) : members), ...leftOutMember(row) });
  });
}

export async function readRuns(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
  shown?: ReadonlySet<string>,
): Promise<RunRow[]> {
  const used = !shown || USAGE_MEMBERS.some((name) => shown.has(name));
  const show = (member: string, sql: string) => (!shown || shown.has(member) ? sql : 'null');
  const { rows } = await pool.query<RunRow>(
    `select r.id, r.tenant_id, r.session_id, r.dataset_id, r.example_id, r.name, r.run_type, ${TIME} as start, ${isoTime('r.end_time')} as "end",
       r.status, r.error, ${show('inputs', runInputs('$2'))} as inputs, ${show('outputs', 'r.outputs')} as outputs,
       ${shown?.has('thread_id') ? 'r.extra' : show('extra', 'r.extra')} as extra, ${show('child_run_ids', CHILDREN)} as children, ${show('s3_urls', ATTACHMENTS)} as attachments,
       ${show('child_run_ids', DIRECT_CHILDREN)} as direct_children, ${RUN_PLACE}${used ? ', used.*' : ''}
     from unnest($1::uuid[]) with ordinality as k(id, place) join runs r on r.id = k.id and r.tenant_id = $2
     ${used ? `cross join ${runUsage('$2')}` : ''} order by k.place`,
    [ids, tenantId],
  );
  return rows;
}
