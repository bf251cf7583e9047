import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from './client';

/** A tracing project with figures over the runs of a time. */
export type Project = Schemas['TracingProject'];

/** A time that is counted, from its start and before its end; what is not given is as the service has it. */
export interface Counted {
  readonly from?: string;
  readonly to?: string;
}

const [NEWS_MS, COUNTS_MS] = [5000, 30_000];

/**
 * The tracing projects whose names hold a text, with what ran in a time, those with the newest runs first; `key` stands
 * for `counted`, in which times follow the clock.
 */
export function useProjects(w: string, q: string | undefined, key: readonly unknown[], counted: () => Counted) {
  return useInfiniteQuery({
    queryKey: ['projects', w, q, ...key],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...counted(), ...(q && { q }), ...(pageParam !== null && { cursor: pageParam }) };
      return answered(api.GET('/v1/projects', { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: NEWS_MS,
  });
}

/** Root runs, errors, usage and latencies of a project over time; `key` stands for `counted`. */
export function useCounts(w: string, project: string, key: readonly unknown[], counted: () => Counted) {
  return useQuery({
    queryKey: ['counts', w, project, ...key],
    queryFn: ({ signal }) => {
      const params = { path: { project_id: project }, query: { ...counted() } };
      return answered(api.GET('/v1/projects/{project_id}/counts', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: COUNTS_MS,
  });
}

/** An experiment or tracing project. */
export function useProject(w: string, id: string) {
  return useQuery({
    queryKey: ['project', w, id],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } }, signal })),
  });
}
