import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { parseLossless } from './lossless';
import { answered, api, readLossless, readShared, type Schemas, type Session } from './client';

/** A tracing project with figures over its runs. */
export type Project = Session;

/** A run as a line of a trace. */
export interface RunLine {
  readonly id: string;
  readonly name: string;
  readonly run_type: string;
  readonly status: 'success' | 'error' | 'pending';
  readonly start_time: string;
  readonly end_time: string | null;
  readonly parent_run_id: string | null;
  readonly total_tokens: number | null;
  readonly total_cost: string | null;
}

/** A root run as a line of a list; previews are the beginnings of what was sent. */
export interface TraceLine extends Omit<RunLine, 'parent_run_id'> {
  readonly latency: number | null;
  readonly inputs_preview: string | null;
  readonly outputs_preview: string | null;
  readonly error_preview: string | null;
  readonly tags: readonly string[];
  readonly thread_id: string | null;
  /** Means of the scores by their keys. */
  readonly feedback: Readonly<Record<string, number | null>>;
}

/** Filters of a list of root runs, all of which hold. */
export interface TracesAsked {
  readonly status?: TraceLine['status'];
  readonly run_type?: string;
  /** Start of a run: at this time or later, and before the other. */
  readonly from?: string;
  readonly to?: string;
  readonly tag?: string;
  readonly text?: string;
  readonly thread_id?: string;
  /** An expression in the filter language of the SDKs. */
  readonly filter?: string;
}

interface TracesPage {
  readonly traces: readonly TraceLine[];
  /** Place of the newest one; null without any. */
  readonly first_cursor: string | null;
  /** Null when nothing older is left. */
  readonly next_cursor: string | null;
  /** Start of the oldest run that was looked at. */
  readonly searched_to: string | null;
}

const [PROJECTS, PAGE] = [50, 50];
/** Runs of a trace that one request answers, and requests that are sent without asking a person. */
const [TRACE_PAGE, TRACE_PAGES] = [1000, 10];
const MOST_NEW = 100;
const NEWS_MS = 5000;
const RUNNING_MS = 3000;
const LATELY_MS = 3_600_000;

type Selects = Extract<Schemas['QueryRunsRequestBody']['selects'], readonly unknown[]>;
const OF_TRACE: Selects = [
  ...(['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME'] as const),
  ...(['PARENT_RUN_IDS', 'TOTAL_TOKENS', 'TOTAL_COST'] as const),
];
const OF_LIST: Selects = [
  ...OF_TRACE,
  ...(['LATENCY_SECONDS', 'ERROR_PREVIEW', 'INPUTS_PREVIEW', 'OUTPUTS_PREVIEW'] as const),
  ...(['TAGS', 'THREAD_ID', 'FEEDBACK_STATS'] as const),
];

type Sent = Schemas['RunV2'];

function lineOf(run: Sent): RunLine {
  return {
    id: run.id!,
    name: run.name ?? '',
    run_type: (run.run_type ?? '').toLowerCase(),
    status: (run.status ?? 'PENDING').toLowerCase() as RunLine['status'],
    start_time: run.start_time!,
    end_time: run.end_time ?? null,
    parent_run_id: run.parent_run_ids?.at(-1) ?? null,
    total_tokens: run.total_tokens ?? null,
    total_cost: run.total_cost === undefined ? null : String(run.total_cost),
  };
}

function traceOf(run: Sent): TraceLine {
  const given = Object.entries(run.feedback_stats ?? {});
  return {
    ...lineOf(run),
    latency: run.latency_seconds ?? null,
    inputs_preview: run.inputs_preview ?? null,
    outputs_preview: run.outputs_preview ?? null,
    error_preview: run.error_preview ?? null,
    tags: run.tags ?? [],
    thread_id: run.thread_id ?? null,
    feedback: Object.fromEntries(given.map(([key, { avg }]) => [key, avg])),
  };
}

async function query(body: Partial<Schemas['QueryRunsRequestBody']> & { selects: Selects }, signal: AbortSignal) {
  const asked = body as Schemas['QueryRunsRequestBody'];
  return answered(api.POST('/v2/runs/query', { body: asked, signal }));
}

/** The tracing projects of a workspace whose names hold a text, those with the newest runs first. */
export function useProjects(w: string, q: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['projects', w, q],
    queryFn: ({ pageParam, signal }) => {
      const sorted = { reference_free: true, sort_by: 'last_run_start_time', sort_by_desc: true } as const;
      const asked = { ...sorted, limit: PROJECTS, offset: pageParam, ...(q && { name_contains: q }) };
      return answered(api.GET('/api/v1/sessions', { params: { query: asked }, signal })) as Promise<Project[]>;
    },
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.length === PROJECTS ? all.length * PROJECTS : undefined),
    placeholderData: keepPreviousData,
    refetchInterval: NEWS_MS,
  });
}

export function useProject(w: string, id: string) {
  return useQuery({
    queryKey: ['project', w, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } }, signal })),
  });
}

interface PagePlace {
  readonly limit: number;
  readonly cursor?: string;
  /** Only what is newer than the `first_cursor` of an earlier answer. */
  readonly newer_than?: string;
}

async function tracesPage(project: string, asked: TracesAsked, place: PagePlace, signal: AbortSignal) {
  const { status, run_type, from, to, tag, text, thread_id, filter } = asked;
  const quoted = JSON.stringify;
  const expressions = [
    ...(status ? [`eq(status, ${quoted(status)})`] : []),
    ...(tag ? [`has(tags, ${quoted(tag)})`] : []),
    ...(thread_id ? [`eq(thread_id, ${quoted(thread_id)})`] : []),
    ...(filter ? [filter] : []),
    ...(text ? [`search(${quoted(text)})`] : []),
  ];
  const [newerThan, seen] = place.newer_than?.split(' ') ?? [];
  const { items, next_cursor } = await query(
    {
      project_ids: [project],
      is_root: true,
      ...(run_type && { run_type }),
      ...((newerThan ?? from) && { min_start_time: newerThan ?? from }),
      ...(to && { max_start_time: to }),
      ...(expressions.length > 0 && { filter: `and(${expressions.join(', ')})` }),
      ...(place.cursor && { cursor: place.cursor }),
      page_size: place.limit,
      selects: newerThan === undefined ? OF_LIST : ['ID', 'START_TIME'],
    },
    signal,
  );
  const traces = items.filter(({ id }) => id !== seen).map(traceOf);
  const [first] = traces;
  return {
    traces,
    first_cursor: first === undefined ? null : `${first.start_time} ${first.id}`,
    next_cursor: next_cursor ?? null,
    searched_to: traces.at(-1)?.start_time ?? null,
  } satisfies TracesPage;
}

/** The list of the root runs of a project, page by page; `key` stands for `asked`, in which times follow the clock. */
export function useTraces(w: string, project: string, key: readonly unknown[], asked: () => TracesAsked) {
  return useInfiniteQuery({
    queryKey: ['traces', w, project, ...key],
    queryFn: ({ pageParam, signal }) =>
      tracesPage(project, asked(), { limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}

/**
 * Number of root runs that are newer than a place of the list, null for an empty one, and whether there are more than
 * were counted; nothing is asked while the place is not known.
 */
export function useNewer(list: Parameters<typeof useTraces>, place: string | null | undefined) {
  const [w, project, key, asked] = list;
  const { data } = useQuery({
    queryKey: ['newer traces', w, project, place, ...key],
    queryFn: async ({ signal }) => {
      const newer = place === null ? {} : { newer_than: place };
      const { traces, next_cursor } = await tracesPage(project, asked(), { limit: MOST_NEW, ...newer }, signal);
      return { count: traces.length, more: next_cursor !== null };
    },
    enabled: place !== undefined,
    refetchInterval: NEWS_MS,
  });
  return data ?? { count: 0, more: false };
}

/** Present state of runs that had not ended, by their ids. */
export function useEnded(w: string, ids: readonly string[]) {
  return useQuery({
    queryKey: ['ended runs', w, ...ids],
    queryFn: async ({ signal }) => {
      const selects: Selects = ['ID', 'NAME', 'STATUS', 'START_TIME', 'END_TIME', 'LATENCY_SECONDS', 'ERROR_PREVIEW'];
      const { items } = await query({ ids: [...ids], page_size: MOST_NEW, selects }, signal);
      return new Map(items.map((run) => [run.id!, traceOf(run)]));
    },
    enabled: ids.length > 0,
    refetchInterval: RUNNING_MS,
    placeholderData: keepPreviousData,
  }).data;
}

/** All runs of a trace, a thousand at a time; asked for again while its root goes on. */
export function useTrace(w: string, project: string, trace: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['trace', w, trace],
    queryFn: async ({ pageParam, signal }) => {
      const asked = { project_ids: [project], trace_id: trace, sort_order: 'ASC' as const };
      const page = { page_size: TRACE_PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      const { items, next_cursor } = await query({ ...asked, ...page, selects: OF_TRACE }, signal);
      return { runs: items.map(lineOf), next_cursor: next_cursor ?? null };
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: trace !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.runs.some((run) => run.id === trace && mayEnd(run)) ? RUNNING_MS : false,
  });
}

/** True for a run that goes on, unless it began so long ago that nothing will tell of its end. */
export function mayEnd({ status, start_time }: Pick<RunLine, 'status' | 'start_time'>): boolean {
  return status === 'pending' && Date.now() - Date.parse(start_time) < LATELY_MS;
}

/** True when so much of a trace was read that a person decides whether more is. */
export function isLong(pages: number): boolean {
  return pages % TRACE_PAGES === 0;
}

/** The runs at and below a shared run. */
export function useSharedTrace(token: string) {
  return useQuery({
    queryKey: ['shared', token, 'runs'],
    queryFn: async ({ signal }) => {
      const params = { path: { run_token: token } };
      const body = { selects: OF_TRACE };
      const asking = api.POST('/v2/public/{run_token}/runs/query', { params, body, signal, credentials: 'omit' });
      return (await answered(asking)).items.map(lineOf);
    },
  });
}

/** A run as it was sent, its numbers as they were written; parts can be missing where it is shared. */
export type WholeRun = Readonly<Record<string, unknown>>;

/** One run; the one before is shown until it is there. */
export function useRun(w: string, id: string) {
  return useQuery({
    queryKey: ['run', w, id],
    queryFn: async ({ signal }) => (await readLossless(`/api/v1/runs/${encodeURIComponent(id)}`, signal)) as WholeRun,
    placeholderData: keepPreviousData,
  });
}

/** The shared run, or one below it. */
export function useSharedRun(token: string, id: string | undefined) {
  return useQuery({
    queryKey: ['shared', token, 'run', id],
    queryFn: async ({ signal }) => {
      const below = id === undefined ? '' : `/${encodeURIComponent(id)}`;
      return (await readShared(`/api/v1/public/${encodeURIComponent(token)}/run${below}`, signal)) as WholeRun;
    },
    placeholderData: keepPreviousData,
  });
}

const MOST_GIVEN = 100;

export type Given = NonNullable<ReturnType<typeof useFeedback>['data']>[number];

/** The newest feedback on a run. */
export function useFeedback(w: string, run: string) {
  return useQuery({
    queryKey: ['feedback', w, run],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/feedback', { params: { query: { run: [run], limit: MOST_GIVEN } }, signal })),
  });
}

/** The messages of a conversation in their order, and whether they are all. */
export function useThread(w: string, project: string, thread: string) {
  return useQuery({
    queryKey: ['thread', w, project, thread],
    queryFn: async ({ signal }) => {
      const params = { path: { thread_id: thread }, query: { session_id: project } };
      const { previews, is_complete } = await answered(api.GET('/api/v1/runs/threads/{thread_id}', { params, signal }));
      // JSON has no empty line, which stands between two messages.
      const messages = previews.all_messages.split('\n\n').filter((text) => text !== '');
      return { messages: messages.map(parseLossless), isWhole: is_complete };
    },
    refetchInterval: NEWS_MS,
  });
}
