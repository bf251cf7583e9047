import { type Api, isUuid } from './api';
import { Usage } from '../failure';
import { idOf } from './kinds';
import type { Deployment, Session } from './records';

/** The deployment of this id or exact name. */
export async function findDeployment(api: Api, idOrName: string): Promise<Deployment> {
  return api.get<Deployment>(`/v2/deployments/${await deploymentId(api, idOrName)}`);
}

/** The id of the deployment of this id or exact name. */
export async function deploymentId(api: Api, idOrName: string): Promise<string> {
  return idOf(api, 'deployment', idOrName);
}

/** The id of a revision as it was written. @throws Usage for what is none: revisions have no names */
export function revisionId(text: string): string {
  if (isUuid(text)) return text;
  throw new Usage(`"${text}" is no id of a revision; "fairlead revisions list" shows them.`);
}

/** The experiment of this id or exact name. */
export async function findExperiment(api: Api, idOrName: string): Promise<Session> {
  return api.get<Session>(`/api/v1/sessions/${await idOf(api, 'experiment', idOrName)}`);
}
