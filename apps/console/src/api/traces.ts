import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { parseLossless } from './lossless';
import { answered, api, readLossless, readShared, type Schemas } from './client';

/** A root run as a line of a list; previews are the beginnings of what was sent. */
export type TraceLine = Schemas['ListedTrace'];

/** A run as a line of a trace. */
export type RunLine = Pick<
  Schemas['RunOfTrace'],
  'id' | 'name' | 'run_type' | 'status' | 'start_time' | 'end_time' | 'parent_run_id' | 'total_tokens' | 'total_cost'
>;

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

/** Runs of a page of a list, and those that are counted as new. */
const [PAGE, MOST_NEW] = [50, 100];
/** Requests for a trace that are sent without asking a person. */
const TRACE_PAGES = 10;
const NEWS_MS = 5000;
const RUNNING_MS = 3000;
const LATELY_MS = 3_600_000;

type Selects = Extract<Schemas['QueryRunsRequestBody']['selects'], readonly unknown[]>;
const OF_SHARED: Selects = [
  ...(['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME'] as const),
  ...(['PARENT_RUN_IDS', 'TOTAL_TOKENS', 'TOTAL_COST'] as const),
];

function lineOf(run: Schemas['RunV2']): RunLine {
  return {
    id: run.id!,
    name: run.name ?? '',
    run_type: (run.run_type ?? '').toLowerCase(),
    status: statusOf(run),
    start_time: run.start_time!,
    end_time: run.end_time ?? null,
    parent_run_id: run.parent_run_ids?.at(-1) ?? null,
    total_tokens: run.total_tokens ?? null,
    total_cost: run.total_cost === undefined ? null : String(run.total_cost),
  };
}

function statusOf({ status }: Schemas['RunV2']): RunLine['status'] {
  return (status ?? 'PENDING').toLowerCase() as RunLine['status'];
}

interface PagePlace {
  readonly limit: number;
  readonly cursor?: string;
  /** Only what is newer than the `first_cursor` of an earlier answer. */
  readonly newer_than?: string;
}

function tracesPage(project: string, asked: TracesAsked, place: PagePlace, signal: AbortSignal) {
  const { status, run_type, tag, ...rest } = asked;
  const several = (value: string | undefined) => (value === undefined ? undefined : [value]);
  const given = { ...rest, ...place, status: status && [status], run_type: several(run_type), tag: several(tag) };
  const params = { path: { project_id: project }, query: given };
  return answered(api.GET('/v1/projects/{project_id}/traces', { params, signal }));
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
      const selects: Selects = ['ID', 'STATUS', 'END_TIME', 'LATENCY_SECONDS', 'ERROR_PREVIEW'];
      const body = { ids: [...ids], page_size: MOST_NEW, selects } as Schemas['QueryRunsRequestBody'];
      const { items } = await answered(api.POST('/v2/runs/query', { body, signal }));
      return new Map(
        items.map((run) => {
          const { id, end_time = null, latency_seconds: latency = null, error_preview = null } = run;
          return [id!, { status: statusOf(run), end_time, latency, error_preview }];
        }),
      );
    },
    enabled: ids.length > 0,
    refetchInterval: RUNNING_MS,
    placeholderData: keepPreviousData,
  }).data;
}

/** All runs of a trace, as many at a time as the service gives; asked for again while its root goes on. */
export function useTrace(w: string, project: string, trace: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['trace', w, trace],
    queryFn: ({ pageParam, signal }) => {
      const query = pageParam === null ? {} : { cursor: pageParam };
      const params = { path: { project_id: project, trace_id: trace! }, query };
      return answered(api.GET('/v1/projects/{project_id}/traces/{trace_id}', { params, signal }));
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
      const body = { selects: OF_SHARED };
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
