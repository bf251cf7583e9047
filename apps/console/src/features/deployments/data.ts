import { keepPreviousData, useInfiniteQuery, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { answered, answeredWhole, api } from '../../api/client';
import type { Parameters } from '../../ui/address';

const HEALTH_MS = 15_000;
const METRICS_MS = 60_000;
/** After a change of a deployment its health is read again so much later. */
const SOON_MS = [1000, 3000, 8000];
export const PAGE = 50;
/** Each deployment is read with the sentence that says how it is. */
const STANDING = ['standing'] as ['standing'];
const HISTORY_PAGE = 100;

/** The filters of the list, which are the parameters of the API. */
export const FILTERS = [
  'name_contains',
  'status',
  'deployment_type',
  'image_version',
  'remote_reconciled',
  'name',
  'agent_id',
  'agent_environment',
  'tag_value_ids',
  'deployment_ids',
] as const;

export function useWorkspace(): string {
  return useParams({ from: '/o/$w' }).w;
}

/** A page of the deployments that the parameters of the address ask for. */
export function useDeployments(search: Parameters) {
  const w = useWorkspace();
  const given = FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : []));
  const query = {
    ...Object.fromEntries(given),
    offset: Number(search.offset ?? 0) || 0,
    limit: PAGE,
    count: true,
    include: STANDING,
  };
  return useQuery({
    queryKey: ['deployments', w, query],
    queryFn: ({ signal }) => answeredWhole(api.GET('/v2/deployments', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** The revisions with these ids, each of its deployment. */
export function useNamedRevisions(named: readonly { deployment: string; revision: string }[]) {
  const w = useWorkspace();
  return useQueries({
    queries: named.map(({ deployment, revision }) => ({
      queryKey: ['deployment', w, deployment, 'revision', revision],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        answered(
          api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}', {
            params: { path: { deployment_id: deployment, revision_id: revision } },
            signal,
          }),
        ),
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))),
  });
}

/** A deployment with its `ETag`. */
export function useDeployment(id: string) {
  const w = useWorkspace();
  return useQuery({
    queryKey: ['deployment', w, id, 'now'],
    queryFn: () => readDeployment(id),
  });
}

/** Health of the running program; `changedAt` is the time of the deployment's last change. */
export function useHealth(id: string, changedAt?: string) {
  const w = useWorkspace();
  const health = useQuery({
    queryKey: ['deployment', w, id, 'health'],
    queryFn: ({ signal }) =>
      answered(api.GET('/v2/deployments/{deployment_id}/health', { params: { path: { deployment_id: id } }, signal })),
    // No change tells of it: it is what the executor sees.
    refetchInterval: HEALTH_MS,
  });
  const { refetch } = health;
  const known = useRef(changedAt);
  // The executor does what was asked for, such as a stop, a little after the deployment has changed.
  useEffect(() => {
    if (known.current === changedAt) return undefined;
    known.current = changedAt;
    const timers = SOON_MS.map((ms) => setTimeout(() => void refetch({ cancelRefetch: false }), ms));
    return () => timers.forEach(clearTimeout);
  }, [changedAt, refetch]);
  return health;
}

/** Measurements of a deployment: the minutes of a day or the hours of a month. */
export function useMetrics(id: string, period: 'minute' | 'hour') {
  const w = useWorkspace();
  return useQuery({
    queryKey: ['deployment', w, id, 'metrics', period],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/metrics', {
          params: { path: { deployment_id: id }, query: { period } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: METRICS_MS,
  });
}

export function readDeployment(id: string) {
  const params = { path: { deployment_id: id }, query: { include: STANDING } } as const;
  return answeredWhole(api.GET('/v2/deployments/{deployment_id}', { params }));
}

/** The revisions of a deployment, the newest first. */
export function useRevisions(id: string) {
  const w = useWorkspace();
  return useInfiniteQuery({
    queryKey: ['deployment', w, id, 'revisions'],
    queryFn: ({ pageParam, signal }) =>
      answeredWhole(
        api.GET('/v2/deployments/{deployment_id}/revisions', {
          params: { path: { deployment_id: id }, query: { limit: PAGE, offset: pageParam, include: 'cause' } },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ body, more }) => (more ? body.offset : undefined),
  });
}

/** Events of a deployment, the newest first; `types` separated by commas, all when undefined. */
export function useHistory(id: string, types?: string) {
  const w = useWorkspace();
  return useInfiniteQuery({
    queryKey: ['deployment', w, id, 'history', types],
    queryFn: ({ pageParam, signal }) =>
      answeredWhole(
        api.GET('/v2/deployments/{deployment_id}/history', {
          params: {
            path: { deployment_id: id },
            query: { limit: HISTORY_PAGE, offset: pageParam, ...(types && { types: types.split(',') }) },
          },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ body, more }) => (more ? body.offset : undefined),
  });
}

/** All elements of the pages that were fetched. */
export function elements<T>(query: { data?: { pages: readonly { body: { resources: readonly T[] } }[] } }): T[] {
  return query.data?.pages.flatMap(({ body }) => body.resources) ?? [];
}

/** Differences between two revisions. */
export function useDifference(id: string, from: string | undefined, to: string | undefined) {
  const w = useWorkspace();
  return useQuery({
    queryKey: ['deployment', w, id, 'difference', from, to],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}/diff/{other_id}', {
          params: { path: { deployment_id: id, revision_id: from!, other_id: to! } },
          signal,
        }),
      ),
    enabled: from !== undefined && to !== undefined,
    staleTime: Infinity,
  });
}

/** Asks again for all of a deployment, and for the lists that it stands in. */
export function useRefresh(id: string) {
  const queries = useQueryClient();
  const w = useWorkspace();
  return async () => {
    void queries.invalidateQueries({ queryKey: ['deployments', w] });
    await queries.invalidateQueries({ queryKey: ['deployment', w, id] });
  };
}

/** The headers of a write: why, and the `ETag` of what it starts from. */
export function writeHeaders(reason: string, etag?: string | null) {
  // A header holds ASCII only; the service reads what is percent-encoded.
  return { ...(reason !== '' && { 'x-reason': encodeURIComponent(reason) }), ...(etag && { 'If-Match': etag }) };
}
