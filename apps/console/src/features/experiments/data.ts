import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api, type Dataset, type Session } from '../../api/client';

const WAITING_MS = 1500;
const MOST_KEYS = 8;
const MOST_METADATA = 4;

/** The experiments of the workspace, or of one dataset, newest first; asked again while some are being stored. */
export function useExperiments(dataset?: string) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['experiments', w, dataset],
    queryFn: ({ signal }) => {
      const query = {
        reference_free: false,
        limit: 100,
        ...(dataset !== undefined && { reference_dataset: [dataset] }),
      };
      return answered(api.GET('/api/v1/sessions', { params: { query }, signal })) as Promise<Session[]>;
    },
    refetchInterval: ({ state }) => {
      const sessions = state.data as Session[] | undefined;
      return sessions && (sessions.length === 0 || sessions.some(isStoring)) ? WAITING_MS : 30_000;
    },
  });
}

/** Datasets, those with the newest experiments first. */
export function useDatasets() {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['datasets', w],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/datasets', { params: { query: { limit: 100 } }, signal })),
    refetchInterval: ({ state }) => ((state.data as Dataset[] | undefined)?.length === 0 ? WAITING_MS : 30_000),
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

/** The first hundred examples of a dataset. */
export function useExamples(dataset: string) {
  const { w } = useParams({ from: '/o/$w' });
  return useQuery({
    queryKey: ['examples', w, dataset],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/examples', { params: { query: { dataset, limit: 100 } }, signal })),
  });
}

/** Whether the rows of an experiment are still being stored: it has no statistics yet. */
export function isStoring({ run_count }: Session): boolean {
  return run_count === null;
}

/** The score keys of experiments, those first that most of them have. */
export function keysOf(sessions: readonly Session[]): string[] {
  const counts = new Map<string, number>();
  for (const { feedback_stats } of sessions) {
    for (const key of Object.keys(feedback_stats ?? {})) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, MOST_KEYS)
    .map(([key]) => key);
}

/** The metadata of an experiment. */
export function metadataOf({ extra }: Session): Readonly<Record<string, unknown>> {
  const metadata = (extra as { metadata?: unknown } | null)?.metadata;
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
}

/** Names of metadata with plain values that are not the same in all experiments. */
export function differing(sessions: readonly Session[]): string[] {
  if (sessions.length < 2) return [];
  const names = [...new Set(sessions.flatMap((session) => Object.keys(metadataOf(session))))];
  const text = (session: Session, name: string) => JSON.stringify(metadataOf(session)[name]);
  return names
    .filter((name) => sessions.every((session) => typeof metadataOf(session)[name] !== 'object'))
    .filter((name) => new Set(sessions.map((session) => text(session, name))).size > 1)
    .slice(0, MOST_METADATA);
}

/** Half the width of the 95 % interval of a mean, undefined where there is none. */
export function halfWidth({ n, stdev }: { n: number; stdev: number | null }): number | undefined {
  return stdev === null || n < 2 ? undefined : (1.96 * stdev) / Math.sqrt(n);
}

/** Whether a text stands in the name, the dataset or the metadata of an experiment. */
export function matches(session: Session, dataset: string, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return true;
  return [session.name, dataset, JSON.stringify(metadataOf(session))].some((one) => one.toLowerCase().includes(wanted));
}
