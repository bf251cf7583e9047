import type { Recorded } from '@fairlead/eventing';
import { recorded } from '@fairlead/eventing/testing';
import { TENANT } from '@fairlead/edge/testing';
import { create, type NewDeployment } from '../model/change';
import type { DeploymentEvent, Secret } from '../model/deployment-events';

/** A uuid that is recognisable by its number. */
export const uuidOf = (n: number) => `01980000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/** Ids of the integration and of the listener that the workspace `TENANT` of a TestService has. */
export const INTEGRATION = uuidOf(1);
export const LISTENER = uuidOf(2);

/** The configuration of a deployment whose repository the integration reads. */
export const REPOSITORY = { integration_id: INTEGRATION, repo_url: 'https://code.example/team/agent' };

/** A deployment from a code host with one secret. */
export function codehost(name: string, secrets: readonly Secret[] = []): NewDeployment {
  return {
    name,
    source: 'codehost',
    source_config: { ...REPOSITORY, deployment_type: 'prod', resource_spec: { cpu: 1 } },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
    secrets,
  };
}

/** The events of a new deployment with a revision whose id is that of the deployment plus 1000. */
export function creation(n: number, wanted: NewDeployment, tenant = TENANT): DeploymentEvent[] {
  return create(wanted, tenant, { deploymentId: uuidOf(n), revisionId: uuidOf(n + 1000) }, 'any')(null);
}

/** Events of deployment `n` as its stream gives them: versions from `first`, one second apart. */
export function streamOf(n: number, events: readonly DeploymentEvent[], first = 1): Recorded<DeploymentEvent>[] {
  return recorded(events, `deployment-${uuidOf(n)}`).map((event) => ({
    ...event,
    version: event.version + first - 1,
    time: new Date(Date.UTC(2026, 0, 1, 0, n, event.version + first - 1)).toISOString(),
  }));
}
