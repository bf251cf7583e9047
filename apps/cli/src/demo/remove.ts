import { withoutDeleted } from './deploy';
import { isMarked, type Session } from './look';
import { DEPLOYMENT, MARK } from './mark';
import type { Service } from './service';
import type { storyOf } from './story';

const PAGE = 100;

/** Number of things that were removed, and those that were kept because of something that is not the demo's. */
interface Removed {
  readonly count: number;
  /** Names of what was kept. */
  readonly kept: readonly string[];
}

/** Removes what carries the mark of the demo, and nothing else. */
export async function remove(service: Service, tellStory: typeof storyOf): Promise<Removed> {
  const deployments = await withoutDeleted(service);
  for (const { id } of deployments) await service.send('DELETE', `/v2/deployments/${id}`);
  const kept: string[] = [];
  const story = tellStory({ dataset: '', until: 0 });
  const own = new Map(story.experiments.map(({ name, traces }) => [name, traces.length]));
  own.set(DEPLOYMENT, story.conversations.length);
  const sessions = await marked<Session>(service, '/api/v1/sessions');
  for (const { id, name, run_count } of sessions) {
    if ((run_count ?? 0) > (own.get(name) ?? Infinity)) kept.push(name);
    else await service.send('DELETE', `/api/v1/sessions/${id}`);
  }
  const datasets = await marked<{ id: string; name: string }>(service, '/api/v1/datasets');
  for (const { id, name } of datasets) {
    if (await holdsOthers(service, id)) kept.push(name);
    else await service.send('DELETE', `/api/v1/datasets/${id}`);
  }
  await withoutDeleted(service);
  return { count: deployments.length + sessions.length + datasets.length - kept.length, kept };
}

/** True when somebody has added examples to a dataset or run experiments on it: they would go with it. */
async function holdsOthers(service: Service, dataset: string): Promise<boolean> {
  const all = await service.get<number>('/api/v1/examples/count', { dataset });
  const own = await service.get<number>('/api/v1/examples/count', { dataset, metadata: JSON.stringify(MARK) });
  if (all > own) return true;
  return (await service.get<Session[]>('/api/v1/sessions', { reference_dataset: dataset, limit: 1 })).length > 0;
}

/** All things of a list that carry the mark. */
async function marked<T>(service: Service, path: string): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const query = { metadata: JSON.stringify(MARK), limit: PAGE, offset: found.length };
    const page = await service.get<T[]>(path, query);
    found.push(...page);
    if (page.length < PAGE) return found.filter((one) => isMarked(one as object));
  }
}
