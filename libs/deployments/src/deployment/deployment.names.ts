import { createHash } from 'node:crypto';
import {
  type EventStore,
  holder,
  type Metadata,
  nameStream,
  NameTaken,
  release,
  reserve,
  streamName,
} from '@fairlead/eventing';
import { Conflict } from '@fairlead/schema';
import type { Agent } from './deployment-events';
import { InvalidDeployment } from '../errors';

/** What no two deployments of a tenant have in common: the name, and the agent in an environment where one is named. */
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
export function nameOf(tenantId: string, name: string): string {
  return nameStream('deploymentName', tenantId, name);
}

/**
 * Takes the names for a deployment, all or none.
 * @throws InvalidDeployment when the name is taken, Conflict when the agent has a deployment in the environment
 */
export async function reserveNames(
  store: EventStore,
  tenantId: string,
  id: string,
  { name, agent }: Names,
  metadata: Metadata,
): Promise<void> {
  const stream = streamName('deployment', id);
  if (agent) await take(store, agentOf(tenantId, agent), stream, metadata, occupied(agent));
  try {
    await take(store, nameOf(tenantId, name), stream, metadata, taken(name));
  } catch (error) {
    if (agent) await release(store, agentOf(tenantId, agent), stream, metadata);
    throw error;
  }
}

/** Refuses what `reserveNames` would refuse; nothing is written. */
export async function checkNames(store: EventStore, tenantId: string, { name, agent }: Names): Promise<void> {
  if (agent && (await isHeld(store, agentOf(tenantId, agent)))) throw occupied(agent);
  if (await isHeld(store, nameOf(tenantId, name))) throw taken(name);
}

/** Gives back the names that a deployment holds. */
export async function releaseNames(
  store: EventStore,
  tenantId: string,
  id: string,
  { name, agent }: Names,
  metadata: Metadata,
): Promise<void> {
  const stream = streamName('deployment', id);
  await release(store, nameOf(tenantId, name), stream, metadata);
  if (agent) await release(store, agentOf(tenantId, agent), stream, metadata);
}

function agentOf(tenantId: string, { agent_id, environment }: Agent): string {
  return nameStream('deploymentAgent', tenantId, JSON.stringify([agent_id, environment]));
}

async function take(store: EventStore, name: string, owner: string, metadata: Metadata, refusal: Error) {
  await reserve(store, name, owner, metadata).catch((error: unknown) => {
    throw error instanceof NameTaken ? refusal : error;
  });
}

async function isHeld(store: EventStore, name: string): Promise<boolean> {
  const owner = await holder(store, name);
  return owner !== undefined && (await store.read(owner)).length > 0;
}

function taken(name: string): InvalidDeployment {
  return new InvalidDeployment(`A deployment named '${name}' already exists.`);
}

function occupied({ agent_id, environment }: Agent): Conflict {
  return new Conflict(`The agent '${agent_id}' already has a deployment in the environment '${environment}'.`);
}
