import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api } from '../../api/client';
import type { Parameters } from '../../ui/address';

const PAGE = 50;
const EXPORT_PAGE = 100;
const MOST_EXPORTED = 10_000;
const MINUTE_MS = 60_000;

/** Periods of the log, by the value of `since` in the address. */
export const SINCE: Readonly<Record<string, { text: string; minutes: number }>> = {
  '1h': { text: 'Last hour', minutes: 60 },
  '24h': { text: 'Last 24 hours', minutes: 1440 },
  '7d': { text: 'Last 7 days', minutes: 7 * 1440 },
  '30d': { text: 'Last 30 days', minutes: 30 * 1440 },
};
/** The filters of the address that the API takes by the same names. */
export const FILTERS = ['operations', 'actor', 'resource_id', 'request_id', 'outcome'] as const;

/** The parameters of the API for those of the address; times are whole minutes, so that the same list is not asked for anew. */
export function queryOf(search: Parameters, now: number) {
  const back = SINCE[search.since ?? ''];
  const start = back && new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - back.minutes * MINUTE_MS).toISOString();
  const { operations, actor, resource_id, request_id, outcome } = search;
  return {
    ...(start && { start_time: start }),
    ...(operations && { operations: operations.split(',').map((name) => name.trim()) }),
    ...(actor && { actor }),
    ...(resource_id && { resource_id }),
    ...(request_id && { request_id }),
    ...(outcome && { outcome: outcome as 'refused' | 'success' }),
  };
}

type AuditQuery = ReturnType<typeof queryOf>;

function read(query: AuditQuery, limit: number, cursor: string | null, signal?: AbortSignal) {
  const params = { query: { ...query, limit, ...(cursor !== null && { cursor }) } };
  return answered(api.GET('/api/v1/audit-logs', { params, signal }));
}

export type Entry = Awaited<ReturnType<typeof read>>['items'][number];

/** The entries that the parameters of the address ask for, the newest first. */
export function useEntries(search: Parameters) {
  const { w } = useParams({ from: '/o/$w' });
  const asked = [...FILTERS, 'since' as const].map((name) => search[name]);
  return useInfiniteQuery({
    queryKey: ['audit', w, ...asked],
    queryFn: ({ pageParam, signal }) => read(queryOf(search, Date.now()), PAGE, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    placeholderData: keepPreviousData,
  });
}

/** All entries that pass the filters as JSON Lines, the newest first; at most ten thousand. */
export async function exported(search: Parameters): Promise<string> {
  const query = queryOf(search, Date.now());
  const lines: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof read>> = await read(query, EXPORT_PAGE, cursor);
    lines.push(...page.items.map((entry) => `${JSON.stringify(entry)}\n`));
    cursor = page.cursor;
  } while (cursor !== null && lines.length < MOST_EXPORTED);
  return lines.join('');
}

/** The operations, actors and resources that the log can be filtered by. */
export function useChoices() {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['audit', w, 'choices'],
    queryFn: ({ signal }) => answered(api.GET('/v1/audit/choices', { signal })),
    staleTime: MINUTE_MS,
  });
}

/** Changes that a request made in a deployment: undefined while they are read, null when its newest history has none. */
export function useRequestChanges(deployment: string | undefined, request: string | null) {
  const { w } = useParams({ from: '/o/$w' });
  const found = useQuery({
    queryKey: ['audit', w, 'changes', deployment, request],
    queryFn: async ({ signal }) => {
      const params = { path: { deployment_id: deployment! }, query: { limit: EXPORT_PAGE } };
      const { resources } = await answered(api.GET('/v2/deployments/{deployment_id}/history', { params, signal }));
      const own = resources.filter(({ request_id }) => request_id === request);
      return own.length === 0 ? null : own.reverse().flatMap(({ changes }) => changes);
    },
    enabled: deployment !== undefined && request !== null,
    retry: false,
  });
  return found.data;
}

/** The name of a thing, and what it is. */
export interface Named {
  readonly name: string;
  readonly noun: string;
}

/** The names of deployments, datasets, experiments and projects, by their ids. */
export function useNames(resources: readonly Entry['resources'][number][]): ReadonlyMap<string, Named> {
  const deployments = useNamesOf(resources, 'deployment', async (ids, signal) => {
    const query = { deployment_ids: ids, limit: EXPORT_PAGE };
    return (await answered(api.GET('/v2/deployments', { params: { query }, signal }))).resources;
  });
  const datasets = useNamesOf(resources, 'dataset', (id, signal) =>
    answered(api.GET('/api/v1/datasets', { params: { query: { id, exclude: ['example_count'] } }, signal })),
  );
  const experiments = useNamesOf(resources, 'experiment', async (id, signal) => {
    const query = { id, limit: EXPORT_PAGE, include_stats: false };
    const found = await answered(api.GET('/api/v1/sessions', { params: { query }, signal }));
    return found.map((one) => ({ ...one, noun: one.reference_dataset_id === null ? 'project' : undefined }));
  });
  return new Map([...deployments, ...datasets, ...experiments]);
}

type Read = readonly { readonly id: string; readonly name?: string | null; readonly noun?: string }[];

/** The names of things of one type, by their ids. */
function useNamesOf(
  resources: readonly Entry['resources'][number][],
  of: string,
  read: (ids: string[], signal: AbortSignal) => Promise<Read>,
): (readonly [string, Named])[] {
  const { w } = useParams({ from: '/o/$w' });
  const all = resources.flatMap(({ uid, type }) => (type === of ? [uid] : []));
  const ids = [...new Set(all)].sort().slice(0, EXPORT_PAGE);
  const found = useQuery({
    queryKey: [`${of}s`, w, 'names', ids],
    queryFn: ({ signal }) => read(ids, signal),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return found.data?.flatMap(({ id, name, noun = of }) => (name ? [[id, { name, noun }] as const] : [])) ?? [];
}
