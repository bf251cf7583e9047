import { AGENTS } from './agents';
import { AGENT, DATASET, DEPLOYMENT, MARK } from './mark';
import { NotMade, type Service } from './service';

export const DATASETS = '/api/v1/datasets';
export const SESSIONS = '/api/v1/sessions';

interface Marked {
  readonly metadata?: object | null;
  readonly extra?: { readonly metadata?: object } | null;
}

export interface Dataset extends Marked {
  readonly id: string;
  readonly created_at: string;
  readonly example_count: number;
  readonly baseline_experiment_id: string | null;
}

export interface Session extends Marked {
  readonly id: string;
  readonly name: string;
  readonly run_count: number | null;
  readonly feedback_stats: Readonly<Record<string, { readonly n: number }>> | null;
}

/** The ids of everything that the demo has made. */
export interface Made {
  readonly dataset: string;
  /** By the names of the experiments, the baseline first. */
  readonly experiments: Readonly<Record<string, string>>;
  readonly project: string;
  readonly deployment?: string;
  /** Why nothing was deployed. */
  readonly notDeployed?: string;
}

/** The demo as it is: `part` when only a part of it is there, undefined when nothing is. */
export async function look(service: Pick<Service, 'get'>): Promise<Made | 'part' | undefined> {
  const dataset = await ofName<Dataset>(service, DATASETS, DATASET);
  if (!dataset || !isMarked(dataset)) return undefined;
  const names = AGENTS.map(({ name }) => name);
  const sessions = await Promise.all([...names, DEPLOYMENT].map((name) => ofName<Session>(service, SESSIONS, name)));
  // It is named last.
  if (dataset.baseline_experiment_id === null || sessions.some((one) => !one || !isMarked(one))) return 'part';
  const query = { agent_id: AGENT.agent_id, limit: 1 };
  const { resources } = await service.get<{ resources: readonly { id: string }[] }>('/v2/deployments', query);
  const ids = sessions.map((one) => one!.id);
  const experiments = Object.fromEntries(names.map((name, at) => [name, ids[at]!]));
  return { dataset: dataset.id, experiments, project: ids.at(-1)!, deployment: resources[0]?.id };
}

/** The thing of a name; undefined when there is none. @throws NotMade when it does not carry the mark */
export async function found<T extends Marked>(
  service: Pick<Service, 'get'>,
  path: string,
  name: string,
  what: string,
): Promise<T | undefined> {
  const one = await ofName<T>(service, path, name);
  if (one === undefined || isMarked(one)) return one;
  throw new NotMade(`There is a ${what} named “${name}” that is not the demo's: rename or delete it first.`);
}

export function isMarked({ metadata, extra }: Marked): boolean {
  const { made_by } = (metadata ?? extra?.metadata ?? {}) as { made_by?: unknown };
  return made_by === MARK.made_by;
}

async function ofName<T>(service: Pick<Service, 'get'>, path: string, name: string): Promise<T | undefined> {
  return (await service.get<T[]>(path, { name, limit: 1 }))[0];
}
