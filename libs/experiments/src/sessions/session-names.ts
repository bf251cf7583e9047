import {
  type EventStore,
  holder,
  idOf,
  load,
  type Metadata,
  nameStream,
  reserveName,
  streamName,
} from '@fairlead/eventing';
import { experimentModel } from './experiment';
import { SessionExists } from './session.errors';

/** The stream of a session. */
export function sessionStream(id: string): string {
  return streamName('experiment', id);
}

/** The stream that reserves a session's name within its tenant. */
export function sessionNameStream(tenant: string, name: string): string {
  return nameStream('sessionName', tenant, name);
}

/** Looks whether the session could have the name, without reserving it. @throws SessionExists */
export async function checkSessionName(store: EventStore, tenant: string, name: string, id: string): Promise<void> {
  const owner = await holder(store, sessionNameStream(tenant, name));
  if (owner === undefined || owner === sessionStream(id)) return;
  const { state } = await load(store, experimentModel, owner);
  if (state.exists) throw new SessionExists(idOf(owner));
}

/**
 * Reserves a name for a session. A name left behind by a session that was deleted, or that has another name, is free.
 * @throws SessionExists when another session has it.
 */
export async function reserveSessionName(
  store: EventStore,
  tenant: string,
  name: string,
  id: string,
  metadata: Metadata,
): Promise<void> {
  const isGone = async (owner: string) => {
    const { state } = await load(store, experimentModel, owner);
    return state.deleted || (state.exists && state.name !== name && 'unused');
  };
  const taken = (owner: string) => new SessionExists(idOf(owner));
  await reserveName(store, sessionNameStream(tenant, name), sessionStream(id), isGone, { metadata, taken });
}
