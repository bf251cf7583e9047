import {
  type EventStore,
  holder,
  idOf,
  load,
  type Metadata,
  nameStream,
  NameTaken,
  release,
  reserve,
  streamName,
} from '@fairlead/eventing';
import { experimentModel } from './experiment';

/** The name is in use by another session of the tenant. */
export class SessionExists extends Error {
  constructor(readonly id: string) {
    super(`Session already exists. Its id is ${id}.`);
    this.name = 'SessionExists';
  }
}

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
 * Reserves a name for a session. A name left behind by a deleted session is free.
 * @throws SessionExists when another session has it.
 */
export async function reserveSessionName(
  store: EventStore,
  tenant: string,
  name: string,
  id: string,
  metadata: Metadata,
): Promise<void> {
  const stream = sessionNameStream(tenant, name);
  for (;;) {
    try {
      await reserve(store, stream, sessionStream(id), metadata);
      return;
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error;
      const { state } = await load(store, experimentModel, error.owner);
      if (!state.deleted) throw new SessionExists(idOf(error.owner));
      await release(store, stream, error.owner, metadata);
    }
  }
}
