import { type Api, isUuid } from './api';
import { EXIT, Failure, Usage } from '../failure';
import type { Dataset, Deployment, Page, Session } from './records';

/**
 * The query that reads a deployment without the values of its secrets, whatever the key may see: its state after all that
 * has happened.
 */
export const MASKED = { at: '9999-12-31T23:59:59Z' };

/** The deployment of this id or exact name, without the values of its secrets. */
export async function findDeployment(api: Api, idOrName: string): Promise<Deployment> {
  return api.get<Deployment>(`/v2/deployments/${await deploymentId(api, idOrName)}`, MASKED);
}

/** The id of the deployment of this id or exact name. */
export async function deploymentId(api: Api, idOrName: string): Promise<string> {
  if (isUuid(idOrName)) return idOrName;
  const query = { name_contains: idOrName, limit: 100 };
  const { resources } = await api.get<Page<Deployment>>('/v2/deployments', query);
  return only(
    resources.filter(({ name }) => name === idOrName),
    'deployment',
    idOrName,
  ).id;
}

/** The id of a revision as it was written. @throws Usage for what is none: revisions have no names */
export function revisionId(text: string): string {
  if (isUuid(text)) return text;
  throw new Usage(`"${text}" is no id of a revision; "fairlead revisions list" shows them.`);
}

/** The experiment of this id or exact name. */
export async function findExperiment(api: Api, idOrName: string): Promise<Session> {
  if (isUuid(idOrName)) return api.get<Session>(`/api/v1/sessions/${idOrName}`);
  return only(await api.get<Session[]>('/api/v1/sessions', { name: idOrName, limit: 2 }), 'experiment', idOrName);
}

/** The dataset of this id or exact name. */
export async function findDataset(api: Api, idOrName: string): Promise<Dataset> {
  if (isUuid(idOrName)) return api.get<Dataset>(`/api/v1/datasets/${idOrName}`);
  return only(await api.get<Dataset[]>('/api/v1/datasets', { name: idOrName, limit: 2 }), 'dataset', idOrName);
}

function only<T extends { readonly id: string }>(found: readonly T[], kind: string, name: string): T {
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new Usage(`Several ${kind}s are named ${name}: give the id of one (${ids}).`);
  }
  if (!found[0]) throw new Failure(`No ${kind} is named ${name}.`, EXIT.notFound);
  return found[0];
}
