import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api, type Schemas, type Session } from '../../api/client';

export type Experiment = Schemas['ListedExperiment'];

const STORING_MS = 1500;
const PAGE = 50;
const MOST_KEYS = 8;

/** Which experiments, and in which order. */
interface Wanted {
  readonly dataset?: string;
  readonly q?: string;
  readonly metadata?: string;
  readonly score?: string;
  readonly sort?: string;
}

/** The experiments of the workspace, or of one dataset; asked again while some are being stored. */
export function useExperiments({ dataset, q, metadata, score, sort }: Wanted) {
  const { w } = useParams({ from: '/o/$w' });
  return useInfiniteQuery({
    queryKey: ['experiments', w, dataset, q, metadata, score, sort],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: PAGE,
        ...(dataset && { dataset_id: [dataset] }),
        ...(q && { q }),
        ...(metadata && { metadata }),
        ...(score && { score: [score] }),
        ...(sort && { sort }),
        ...(pageParam !== null && { cursor: pageParam }),
      };
      return answered(api.GET('/v1/experiments', { params: { query }, signal })) as Promise<Schemas['ExperimentsPage']>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ resources }) => resources.some(isStoring)) ? STORING_MS : false,
  });
}

/** Queries that tell of experiments. */
const OF_EXPERIMENTS = new Set(['experiments', 'trend', 'datasets', 'dataset', 'comparison', 'project']);

/** Reads anew what tells of experiments. */
export function useExperimentsChanged() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => OF_EXPERIMENTS.has(String(name)) });
}

/** Datasets whose names hold a text, those with the newest experiments first. */
export function useDatasets(q: string | undefined) {
  const { w } = useParams({ from: '/o/$w' });
  return useInfiniteQuery({
    queryKey: ['datasets', w, q],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, offset: pageParam, ...(q && { name_contains: q }) };
      return answered(api.GET('/api/v1/datasets', { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.length === PAGE ? all.length * PAGE : undefined),
    placeholderData: keepPreviousData,
  });
}

export function useDataset(id: string) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['dataset', w, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/datasets/{dataset_id}', { params: { path: { dataset_id: id } }, signal })),
  });
}

/** True while the rows of an experiment are being stored: it has no statistics yet. */
export function isStoring({ run_count }: Pick<Session, 'run_count'>): boolean {
  return run_count === null;
}

type Scored = Pick<Session, 'feedback_stats' | 'session_feedback_stats'>;

/** Statistics of the scores by key: over the runs, and of keys that no run has of the experiment as a whole. */
export function statisticsOf({ feedback_stats, session_feedback_stats }: Scored) {
  return { ...session_feedback_stats, ...feedback_stats };
}

/** The score keys of experiments, those first that most of them have, and how many have each. */
export function keyCounts(sessions: readonly Scored[]): [key: string, count: number][] {
  const counts = new Map<string, number>();
  for (const session of sessions) {
    for (const key of Object.keys(statisticsOf(session))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** The score keys that a list shows by itself; of several datasets, only those that most of the experiments have. */
export function keysOf(sessions: readonly Scored[], several = false): string[] {
  return keyCounts(sessions)
    .filter(([, count]) => !several || count * 2 >= sessions.length)
    .slice(0, MOST_KEYS)
    .map(([key]) => key);
}

/** The metadata of an experiment. */
export function metadataOf({ extra }: Pick<Session, 'extra'>): Readonly<Record<string, unknown>> {
  const metadata = (extra as { metadata?: unknown } | null)?.metadata;
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
}

/** Names of metadata with plain values that are not the same in all experiments. */
export function differing(sessions: readonly Pick<Session, 'extra'>[]): string[] {
  if (sessions.length < 2) return [];
  const names = [...new Set(sessions.flatMap((session) => Object.keys(metadataOf(session))))];
  const text = (session: Pick<Session, 'extra'>, name: string) => JSON.stringify(metadataOf(session)[name]);
  return names
    .filter((name) => sessions.every((session) => typeof metadataOf(session)[name] !== 'object'))
    .filter((name) => new Set(sessions.map((session) => text(session, name))).size > 1);
}

/** Half the width of the 95 % interval of a mean, undefined where there is none. */
export function halfWidth({ n, scores = n, stdev }: { n: number; scores?: number; stdev: number | null }) {
  return stdev === null || scores < 2 ? undefined : (1.96 * stdev) / Math.sqrt(scores);
}
