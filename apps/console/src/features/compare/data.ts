import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api, type Comparison, readLossless, readShared, type Schemas } from '../../api/client';

export type ComparedRow = Comparison['page']['rows'][number];
export type Cell = NonNullable<ComparedRow['cells'][number]>;
export type KeyComparison = Comparison['keys'][number];

/** Rows of one page of the list. */
export const PAGE = 100;
const KEPT_MS = 120_000;
const STORING_MS = 1500;

/** The compared experiments, and the filters and order of the shown rows. */
export interface Asked {
  readonly dataset: string;
  readonly experiments: readonly string[];
  readonly baseline?: string;
  readonly rows?: string;
  readonly q?: string;
  readonly sort?: string;
  readonly slice?: string;
  /** The key whose comments the rows have. */
  readonly comments?: string;
  /** A further filter of the rows. */
  readonly also?: string;
}

/** The workspace, or the token of a share link, that the address names; one of them undefined. */
function usePlace() {
  const { w, token } = useParams({ strict: false });
  return { w: w ?? `shared ${token}`, token };
}

function useAsk() {
  const { w, token } = usePlace();
  const ask = async (asked: Asked, page: object, signal?: AbortSignal) => {
    const { dataset, experiments, baseline, rows, q, sort, slice, comments, also } = asked;
    const query = {
      // A link says itself what it compares.
      ...(token === undefined && { experiments: experiments.join(',') }),
      ...(baseline !== undefined && { baseline }),
      ...((rows ?? also) !== undefined && { rows: [rows, also].filter((filter) => filter !== undefined) }),
      ...(q !== undefined && { q }),
      ...(sort !== undefined && { sort }),
      ...(slice !== undefined && { slice }),
      ...(comments !== undefined && { comments: [comments] }),
      ...page,
    };
    const asking =
      token === undefined
        ? api.GET('/api/v1/datasets/{dataset_id}/compare', {
            params: { path: { dataset_id: dataset }, query: query as never },
            signal,
          })
        : api.GET('/api/v1/public/{link_token}/link/comparison', {
            params: { path: { link_token: token }, query },
            signal,
            credentials: 'omit',
          });
    return (await answered<{ data?: unknown; error?: unknown; response: Response }>(asking)) as Comparison;
  };
  return { w, ask };
}

/** The statistics of a comparison, without rows; asked again while an upload is being stored. */
export function useComparison(asked: Asked) {
  const { w, ask } = useAsk();
  const { dataset, experiments, baseline } = asked;
  return useQuery({
    queryKey: ['comparison', w, dataset, experiments.join(), baseline],
    queryFn: ({ signal }) => ask({ dataset, experiments, baseline }, { limit: 0 }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      (state.data as Comparison | undefined)?.warnings.some(({ code }) => code === 'rows being stored')
        ? STORING_MS
        : false,
  });
}

/** Where candidates got worse or better, on all scores or on one, or also in what runs took; asked again when the statistics change. */
export function useSlices(
  { dataset, experiments, baseline }: Asked,
  comparison: Comparison | undefined,
  isWanted: boolean,
  { key, isMeasured = false }: { readonly key?: string; readonly isMeasured?: boolean } = {},
) {
  const { w } = usePlace();
  return useQuery({
    queryKey: ['slices', w, dataset, experiments.join(), baseline, key, isMeasured, comparison && stampOf(comparison)],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/api/v1/datasets/{dataset_id}/compare/slices', {
          params: {
            path: { dataset_id: dataset },
            query: {
              experiments: experiments.join(','),
              ...(baseline !== undefined && { baseline }),
              ...(key !== undefined && { key }),
              ...(isMeasured && { measures: ['latency', 'tokens', 'cost'] }),
              limit: 100,
            } as never,
          },
          signal,
        }),
      ),
    enabled: isWanted && comparison !== undefined,
    placeholderData: keepPreviousData,
  });
}

function rowsKey(w: string, { dataset, experiments, baseline, rows, q, sort, slice }: Asked) {
  return ['rows', w, dataset, experiments.join(), baseline, rows, q, sort, slice];
}

const stamps = new WeakMap<object, number>();
let made = 0;

/** A number that stands for the statistics of a comparison: rows that were fetched under another one may be old. */
export function stampOf(comparison: object): number {
  const stamp = stamps.get(comparison) ?? ++made;
  stamps.set(comparison, stamp);
  return stamp;
}

/** The pages of rows that are looked at; `pages` by their numbers. Older ones are shown until new ones are there. */
export function useRowPages(asked: Asked, pages: readonly number[], stamp: number) {
  const { w, ask } = useAsk();
  const queries = useQueryClient();
  const key = rowsKey(w, asked);
  /** A page that differs only in its comments, or is older. */
  const before = (page: number) =>
    [stamp, stamp - 1].flatMap((one) => queries.getQueriesData<Comparison>({ queryKey: [...key, page, one] }));
  return useQueries({
    queries: pages.map((page) => ({
      queryKey: [...key, page, stamp, asked.comments],
      placeholderData: () => before(page).find(([, data]) => data !== undefined)?.[1],
      queryFn: ({ signal }: { signal: AbortSignal }) => ask(asked, { offset: page * PAGE, limit: PAGE }, signal),
      staleTime: KEPT_MS,
      gcTime: KEPT_MS,
    })),
  });
}

/** Finds the place of a row among those that are shown; undefined when it is not one of them. */
export function useFindPlace(asked: Asked) {
  const { w, ask } = useAsk();
  const queries = useQueryClient();
  const key = rowsKey(w, asked);
  return async (example: string): Promise<number | undefined> => {
    const found = await queries.fetchQuery({
      queryKey: [...key, 'place', example],
      queryFn: ({ signal }) => ask({ ...asked, comments: undefined }, { around: example, limit: 1 }, signal),
    });
    return found.page.place ?? undefined;
  };
}

const WORST = 5;

/** Reads the rows with the worst regressions. */
export function useWorstRows({ dataset, experiments, baseline }: Asked) {
  const { ask } = useAsk();
  return async () => (await ask({ dataset, experiments, baseline, sort: 'regression' }, { limit: WORST })).page.rows;
}

export type Steps = ReturnType<typeof useSteps>;

/**
 * The rows that are shown, or those of them that `filter` finds too: how many, the place of a row among them, and how
 * the one before or after that row is found. `isWanted` false: none.
 */
export function useSteps(asked: Asked, row: string | undefined, filter?: string, isWanted = true) {
  const { w, ask } = useAsk();
  const only = { ...asked, also: filter };
  const { data } = useQuery({
    queryKey: ['regressions', ...rowsKey(w, asked), filter, row],
    queryFn: ({ signal }) => ask(only, { around: row, limit: 0 }, signal),
    enabled: isWanted && row !== undefined,
    placeholderData: keepPreviousData,
  });
  const { total, place, rows_before: before } = data?.page ?? {};
  const isKnown = total !== undefined && typeof before === 'number';
  return {
    total,
    place,
    /** Numbers of those before and after the row; undefined until they are known. */
    before: isKnown ? before : undefined,
    after: isKnown ? total - before - (typeof place === 'number' ? 1 : 0) : undefined,
    /** Id of the next one (1) or the one before (-1), of all the first; undefined without any. */
    find: async (step: 1 | -1): Promise<string | undefined> => {
      const { page } = await ask(only, { around: row, limit: 0 });
      const earlier = page.rows_before ?? 0;
      const offset = step === -1 ? earlier - 1 : earlier + (page.place === null ? 0 : 1);
      if (offset < 0 || offset >= page.total) return undefined;
      return (await ask(only, { offset, limit: 1 })).page.rows[0]?.example_id;
    },
  };
}

/** The row of an example, wherever it stands among the rows that are shown. */
export function useRowAround(asked: Asked, example: string) {
  const { w, ask } = useAsk();
  return useQuery({
    queryKey: ['row', ...rowsKey(w, { ...asked, q: undefined }), example],
    queryFn: ({ signal }) => ask(asked, { around: example, limit: 1 }, signal),
  });
}

export type RowRuns = Schemas['RowRuns'];
export type RowRun = RowRuns['experiments'][number]['runs'][number];
export type Given = RowRun['feedback'][number];

/** The runs of a row in each experiment, repetitions one by one, with the feedback on them. */
export function useRowRuns({ dataset, experiments }: Asked, example: string) {
  const { w, token } = usePlace();
  return useQuery({
    queryKey: ['row runs', w, dataset, experiments.join(), example],
    queryFn: ({ signal }): Promise<RowRuns> =>
      token === undefined
        ? answered(
            api.GET('/api/v1/datasets/{dataset_id}/compare/rows/{example_id}', {
              params: {
                path: { dataset_id: dataset, example_id: example },
                query: { experiments: experiments.join(',') } as never,
              },
              signal,
            }),
          )
        : answered(
            api.GET('/api/v1/public/{link_token}/link/comparison/rows/{example_id}', {
              params: { path: { link_token: token, example_id: example } },
              signal,
              credentials: 'omit',
            }),
          ),
  });
}

interface ExampleTexts {
  readonly inputs?: unknown;
  readonly outputs?: unknown;
  /** The run that it was made of. */
  readonly source_run_id?: string | null;
}

/** The input and the reference of a row as they were uploaded; not asked for without a workspace. */
export function useExample(dataset: string, id: string) {
  const { w, token } = usePlace();
  return useQuery({
    queryKey: ['example', w, dataset, id],
    queryFn: async ({ signal }) => {
      const path = `/api/v1/examples/${encodeURIComponent(id)}?dataset=${encodeURIComponent(dataset)}`;
      return (await readLossless(path, signal)) as ExampleTexts;
    },
    enabled: token === undefined,
  });
}

interface Run {
  readonly inputs?: unknown;
  readonly outputs?: unknown;
  readonly error?: string | null;
  /** Only in the workspace's own runs. */
  readonly extra?: unknown;
  /** Only in the runs of a share link, which can leave out any of these. */
  readonly metadata?: unknown;
  readonly reference_outputs?: unknown;
}

/** A run as it was uploaded; `id` undefined for a row that an experiment lacks. */
export function useRun(id: string | undefined) {
  const { w, token } = usePlace();
  return useQuery({
    queryKey: ['run', w, id],
    queryFn: async ({ signal }) => {
      const run = encodeURIComponent(id!);
      const shared = `/api/v1/public/${encodeURIComponent(token ?? '')}/link/runs/${run}`;
      return (await (token === undefined
        ? readLossless(`/api/v1/runs/${run}`, signal)
        : readShared(shared, signal))) as Run;
    },
    enabled: id !== undefined,
  });
}

/** The thing that a share link shows, for whoever has its token. */
export function useLink(token: string) {
  return useQuery({
    queryKey: ['shared', token, 'link'],
    queryFn: ({ signal }) => {
      const params = { path: { link_token: token } };
      return answered(api.GET('/api/v1/public/{link_token}/link', { params, signal, credentials: 'omit' }));
    },
  });
}

export type Distributions = Schemas['Distributions'];
const BINS = 20;

/** Distribution of the scores or values of a key. */
export function useDistributions({ dataset, experiments, baseline }: Asked, key: string) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['comparison', w, dataset, experiments.join(), baseline, 'distributions', key],
    queryFn: async ({ signal }) => {
      const query = { experiments: experiments.join(','), baseline, key, bins: BINS };
      const params = { path: { dataset_id: dataset }, query: query as never };
      const path = '/api/v1/datasets/{dataset_id}/compare/distributions';
      return (await answered(api.GET(path, { params, signal }))) as Distributions;
    },
    placeholderData: keepPreviousData,
  });
}

/** Description and metadata of an experiment, as they were uploaded. */
export interface ExperimentFacts {
  readonly description: string | null;
  readonly extra: unknown;
}

export function useExperimentFacts(id: string) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['comparison', w, 'experiment', id],
    queryFn: async ({ signal }) =>
      (await readLossless(`/api/v1/sessions/${encodeURIComponent(id)}?include_stats=false`, signal)) as ExperimentFacts,
  });
}

/** The experiment that the others on a dataset are compared with in lists, null for none, and how it is chosen. */
export function useDatasetBaseline(dataset: string) {
  const { w } = useParams({ from: '/o/$w' });
  const queries = useQueryClient();
  const path = { dataset_id: dataset };
  const found = useQuery({
    queryKey: ['dataset', w, dataset],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/datasets/{dataset_id}', { params: { path }, signal })),
  });
  const choice = useMutation({
    mutationFn: (experiment_id: string | null) =>
      answered(api.PUT('/api/v1/datasets/{dataset_id}/baseline', { params: { path }, body: { experiment_id } })),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => OF_BASELINE.has(String(name)) }),
  });
  const { data, isPending } = found;
  return { chosen: data?.baseline_experiment_id, name: data?.name, isPending, choice };
}

/** The queries whose answers tell of the baseline of a dataset. */
const OF_BASELINE = new Set(['dataset', 'experiments']);

/** An experiment against another one, in few words. */
export function useSummary(dataset: string, experiment: string, baseline: string | null | undefined) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['comparison', w, dataset, experiment, baseline, 'summary'],
    queryFn: async ({ signal }) => {
      const query = { experiments: experiment, baseline: baseline!, format: 'summary' };
      const params = { path: { dataset_id: dataset }, query: query as never };
      return (await answered(
        api.GET('/api/v1/datasets/{dataset_id}/compare', { params, signal }),
      )) as Schemas['ComparisonSummary'];
    },
    enabled: typeof baseline === 'string' && baseline !== experiment,
  });
}

/** Where the rows can be had as a file, as they are filtered and sorted. */
export function exportPath(
  { dataset, experiments, baseline, rows, q, sort, slice }: Asked,
  format: 'csv' | 'jsonl',
): string {
  const asked = { experiments: experiments.join(), baseline, rows, q, sort, slice, format };
  const given = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/api/v1/datasets/${encodeURIComponent(dataset)}/compare/export?${new URLSearchParams(given).toString()}`;
}
