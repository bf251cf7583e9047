import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, api, type Schemas } from '../../../api/client';
import type { Followed } from '../../../ui/charts/trend-graph';
import { useWorkspace } from '../data';
import type { Scores } from './figures';

/** Revisions of one request. */
export const MOST_REVISIONS = 50;
/** No change tells of live runs. */
const AGAIN_MS = 60_000;

interface Named {
  readonly id: string;
}

/**
 * Scores, use and errors of revisions by their ids, of experiments on one dataset when it is given; what was known of a
 * revision stays until it is read again.
 */
export function useScores(revisions: readonly Named[], dataset?: string) {
  const w = useWorkspace();
  const queries = useQueryClient();
  const chunks = Array.from({ length: Math.ceil(revisions.length / MOST_REVISIONS) }, (_, at) =>
    revisions.slice(at * MOST_REVISIONS, (at + 1) * MOST_REVISIONS).map(({ id }) => id),
  );
  const known = (ids: readonly string[]) => {
    const before = queries.getQueriesData<readonly Scores[]>({ queryKey: ['scores', w, dataset] });
    const found = before.flatMap(([, data]) => data ?? []).filter(({ revision_id: id }) => ids.includes(id));
    return found.length > 0 ? [...new Map(found.map((one) => [one.revision_id, one])).values()] : undefined;
  };
  return useQueries({
    queries: chunks.map((ids) => ({
      queryKey: ['scores', w, dataset, ids.join()],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const query = { revision_ids: ids.join(), dataset_id: dataset } as never;
        const read = answered(api.GET('/api/v1/revisions/scores', { params: { query }, signal }));
        return ((await read) as Schemas['ScoresOfRevisions']).resources;
      },
      placeholderData: () => known(ids),
      refetchInterval: AGAIN_MS,
    })),
    combine: (results) => ({
      of: new Map(results.flatMap(({ data = [] }) => data.map((one) => [one.revision_id, one] as const))),
      isPending: results.some((one) => one.isPending),
      error: results.find(({ error }) => error)?.error ?? null,
      refetch: () => results.forEach((one) => void one.refetch()),
    }),
  });
}

/** A score or a measure over revisions, in their order. */
export function useRevisionTrend(revisions: readonly Named[], dataset: string | undefined, followed: Followed) {
  const w = useWorkspace();
  const ids = revisions.map(({ id }) => id).join();
  return useQuery({
    queryKey: ['trend', w, 'revisions', ids, dataset, followed],
    queryFn: ({ signal }) => {
      const query = { revision_ids: ids, dataset_id: dataset!, ...followed } as never;
      return answered(api.GET('/api/v1/revisions/trend', { params: { query }, signal })) as Promise<
        Schemas['RevisionTrend']
      >;
    },
    enabled: dataset !== undefined,
    placeholderData: keepPreviousData,
  });
}

/** Names of datasets by their ids. */
export function useDatasetNames(ids: readonly string[]) {
  const w = useWorkspace();
  return useQuery({
    queryKey: ['datasets', w, 'named', ids.join()],
    queryFn: async ({ signal }) => {
      const query = { id: [...ids], exclude: ['example_count' as const] };
      const found = await answered(api.GET('/api/v1/datasets', { params: { query }, signal }));
      return new Map(found.map(({ id, name }) => [id, name]));
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  }).data;
}
