import { createHash } from 'node:crypto';
import { nameStream } from '@fairlead/eventing';
import type { Agent } from './deployment-events';
import { AgentDeployed, InvalidDeployment } from './deployment.errors';

/** Names that are unique in a tenant: the deployment's name, and the agent in an environment where one is named. */
export interface Names {
  readonly name: string;
  readonly agent?: Agent;
}

const MOST_WORDS = 200;

/** The name of a deployment that is created for an agent without one: always the same for the same agent. */
export function nameForAgent({ agent_id, environment }: Agent): string {
  const words = `${agent_id}-${environment}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const digest = createHash('sha256')
    .update(JSON.stringify([agent_id, environment]))
    .digest('hex');
  return `${words.slice(0, MOST_WORDS)}-${digest.slice(0, 8)}`;
}

/** The stream of a deployment's name. */
function nameOf(tenantId: string, name: string): string {
  return nameStream('deploymentName', tenantId, name);
}

/** Returns what a deployment has to itself: the stream of each name, with the error for one that is taken. */
export function claimsOf(tenantId: string, { name, agent }: Names): { stream: string; taken: () => Error }[] {
  const named = {
    stream: nameOf(tenantId, name),
    taken: () => new InvalidDeployment(`A deployment named '${name}' already exists.`),
  };
  if (!agent) return [named];
  const { agent_id, environment } = agent;
  const place = JSON.stringify([agent_id, environment]);
  return [
    {
      stream: nameStream('deploymentAgent', tenantId, place),
      taken: () => new AgentDeployed(agent_id, environment),
    },
    named,
  ];
}
