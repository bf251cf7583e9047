import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answered, api, readLossless, type Schemas } from '../../../api/client';
import type { Parameters } from '../../../ui/address';

/** An example whose numbers are kept as they were written. */
export interface Example extends Pick<Schemas['Example'], 'id' | 'modified_at' | 'created_at' | 'source_run_id'> {
  readonly inputs: unknown;
  readonly outputs: unknown;
  readonly metadata: unknown;
}

export const PAGE = 50;
const MOST_VERSIONS = 100;
/** Differing examples that are read at a time. */
const MOST_DIFFERING = 25;
/** Orders of a list by their names in an address; the first one is that of an address without any. */
export const ORDERS: Readonly<Record<string, string>> = {
  '': 'Last changed first',
  newest: 'Newest first',
  oldest: 'Oldest first',
  id: 'By identifier',
};
const ASKED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  newest: { order: 'recently_created' },
  oldest: { order: 'recently_created', descending: 'false' },
  id: { order: 'id' },
};
/** Parameters of an address that say which examples. */
export const FILTERS = ['q', 'split', 'metadata', 'version'] as const;

function filterOf(dataset: string, { q, split, metadata, version }: Parameters): Record<string, string> {
  return {
    dataset,
    ...(q && { full_text_contains: q }),
    ...(split && { splits: split }),
    ...(metadata && { metadata: metadataOf(metadata) }),
    ...(version && { as_of: version }),
  };
}

/** `key=value` as the JSON object that the service compares with; JSON stays as it is. */
function metadataOf(text: string): string {
  const at = text.indexOf('=');
  return text.startsWith('{') || at <= 0 ? text : JSON.stringify({ [text.slice(0, at)]: text.slice(at + 1) });
}

/** A page of the examples of a dataset that an address asks for. */
export function useExamples(w: string, dataset: string, search: Parameters) {
  const { sort = '', offset } = search;
  const given = { ...filterOf(dataset, search), ...(Object.hasOwn(ASKED, sort) && ASKED[sort]) };
  const query = new URLSearchParams({ ...given, limit: String(PAGE), offset: offset ?? '0' });
  return useQuery({
    queryKey: ['examples', w, dataset, query.toString()],
    queryFn: async ({ signal }) => (await readLossless(`/api/v1/examples?${query.toString()}`, signal)) as Example[],
    placeholderData: keepPreviousData,
  });
}

/** Number of the examples of a dataset that pass the filters of an address. */
export function useExampleCount(w: string, dataset: string, search: Parameters) {
  const query = new URLSearchParams(filterOf(dataset, search)).toString();
  return useQuery({
    queryKey: ['examples', w, dataset, 'count', query],
    queryFn: async ({ signal }) => (await readLossless(`/api/v1/examples/count?${query}`, signal)) as number,
    placeholderData: keepPreviousData,
  });
}

export function useSplits(w: string, dataset: string, version: string | undefined) {
  return useQuery({
    queryKey: ['examples', w, dataset, 'splits', version],
    queryFn: ({ signal }) => {
      const params = { path: { dataset_id: dataset }, query: version ? { as_of: version } : {} };
      return answered(api.GET('/api/v1/datasets/{dataset_id}/splits', { params, signal }));
    },
  });
}

/** The newest versions of a dataset. */
export function useVersions(w: string, dataset: string) {
  return useQuery({
    queryKey: ['dataset', w, dataset, 'versions'],
    queryFn: ({ signal }) => {
      const params = { path: { dataset_id: dataset }, query: { limit: MOST_VERSIONS } };
      return answered(api.GET('/api/v1/datasets/{dataset_id}/versions', { params, signal }));
    },
  });
}

/** An example in two versions; undefined where a version lacks it. */
export interface Differing {
  readonly id: string;
  readonly before: Example | undefined;
  readonly after: Example | undefined;
}

/** The examples that differ in two versions, the first ones with what they hold. */
export function useVersionDifference(w: string, dataset: string, from: string | undefined, to: string) {
  return useQuery({
    queryKey: ['dataset', w, dataset, 'difference', from, to],
    queryFn: async ({ signal }) => {
      const params = { path: { dataset_id: dataset }, query: { from_version: from!, to_version: to } };
      const { examples_added, examples_modified, examples_removed } = await answered(
        api.GET('/api/v1/datasets/{dataset_id}/versions/diff', { params, signal }),
      );
      const all = [...examples_modified, ...examples_added, ...examples_removed];
      const shown = all.slice(0, MOST_DIFFERING);
      const at = async (version: string) => {
        if (shown.length === 0) return new Map<string, Example>();
        const query = new URLSearchParams({ dataset, as_of: version, limit: String(MOST_DIFFERING) });
        for (const id of shown) query.append('id', id);
        const found = (await readLossless(`/api/v1/examples?${query.toString()}`, signal)) as Example[];
        return new Map(found.map((one) => [one.id, one]));
      };
      const [before, after] = await Promise.all([at(from!), at(to)]);
      return {
        added: examples_added.length,
        modified: examples_modified.length,
        removed: examples_removed.length,
        shown: shown.map((id): Differing => ({ id, before: before.get(id), after: after.get(id) })),
        others: all.length - shown.length,
      };
    },
    enabled: from !== undefined && from !== to,
    placeholderData: keepPreviousData,
  });
}

/** Query names that tell of the examples of a dataset. */
const OF_EXAMPLES = new Set(['examples', 'example', 'dataset', 'datasets']);

/** A change of examples, after which all that shows them is read again. */
export function useExampleChange<T>(change: (given: T) => Promise<unknown>, done?: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => OF_EXAMPLES.has(String(name)) });
      done?.();
    },
  });
}

/** The splits of an example; `base` stands for none. */
export function splitsOf(metadata: unknown): string[] {
  const { dataset_split: splits } = (metadata ?? {}) as { dataset_split?: unknown };
  return Array.isArray(splits) ? splits.filter((one): one is string => typeof one === 'string') : [];
}

/** A version by its tags and its time. */
export function versionName({
  as_of,
  tags,
}: {
  readonly as_of: string;
  readonly tags: readonly string[] | null;
}): string {
  const named = (tags ?? []).join(', ');
  return `${named ? `${named}, ` : ''}${as_of.slice(0, 19).replace('T', ' ')} UTC`;
}
