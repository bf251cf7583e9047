import {
  AggregateCommands,
  type Caller,
  EventStore,
  type NameEvent,
  nameStream,
  type Recorded,
} from '@fairlead/eventing';
import { NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { v4 as randomId } from 'uuid';
import { namedSessionId } from '../common/ids';
import {
  createSession,
  deleteSession,
  type ExperimentEvent,
  patchSession,
  type Session,
  sessionAggregate,
  type SessionChanges,
  type SessionCreated,
} from './experiment';
import { SessionExists, SessionIdTaken } from './session.errors';

const nameTaken = (owner: string) => new SessionExists(owner, `Its name is used by session ${owner}.`);

@Injectable()
export class SessionCommands extends AggregateCommands<Session, ExperimentEvent> {
  constructor(store: EventStore) {
    super(store, sessionAggregate);
  }

  /**
   * Creates a session under a name that no other session of the tenant has. `numbered` returns its number on its dataset
   * once it has the name.
   * @throws SessionExists when the name is taken, SessionIdTaken when the id was used before
   */
  async create(
    caller: Caller,
    id: string,
    data: SessionCreated['data'],
    numbered?: () => Promise<number | undefined>,
  ): Promise<void> {
    // An earlier attempt of the request may have created it.
    if (!caller.command?.mayBeRepeated && (await this.stateOf(id))) throw new SessionIdTaken(id);
    await this.reserveName(caller, data.name, id, nameTaken);
    await this.run(caller, id, createSession({ ...data, test_run_number: await numbered?.() }));
  }

  async named(tenantId: string, name: string): Promise<string | undefined> {
    const found = await this.holderOf(nameOf(tenantId, name));
    // A crash during a renaming leaves the former name reserved: what is sent to it is not for the renamed session.
    return found?.state?.tenant_id === tenantId && found.state.name === name ? found.id : undefined;
  }

  /**
   * Returns the id for a session that is made by naming it. While a crash has left the name reserved for a session that
   * was not created, this is the id of that session, so that the repeated request can go on with it.
   */
  async idFor(tenantId: string, name: string): Promise<string> {
    const events = await this.store.read(nameOf(tenantId, name));
    const last = events.at(-1) as Recorded<NameEvent> | undefined;
    const reserved = namedSessionId(tenantId, name, events.length - 1);
    const isOwn = last?.type === 'NameReserved' && last.data.owner === this.stream(reserved);
    const id = isOwn ? reserved : namedSessionId(tenantId, name, events.length);
    // It can be computed, so another session may have it.
    return (await this.stateOf(id)) ? randomId() : id;
  }

  /** Changes a session. @throws SessionNotFound, SessionExists when its new name is taken */
  async patch(caller: Caller, id: string, changes: SessionChanges): Promise<void> {
    const { name } = (await this.find(caller.tenantId, id)).state;
    const next = changes.name ?? name;
    if (next !== name) await this.reserveName(caller, next, id, nameTaken);
    await this.change(caller, id, patchSession(changes));
    if (next !== name) await this.releaseName(caller, name, id);
  }

  async delete(caller: Caller, id: string): Promise<void> {
    const { state } = await this.change(caller, id, deleteSession);
    await this.releaseName(caller, state.name, id);
  }

  /** Reserves a name for a session. @throws `taken`, by default SessionExists */
  reserveName(
    caller: Caller,
    name: string,
    id: string,
    taken = (owner: string) => new SessionExists(owner),
  ): Promise<void> {
    return this.reserve(nameOf(caller.tenantId, name), id, caller, taken, (session) => session.name === name);
  }

  /** Refuses a name that another session has; nothing is written. @throws SessionExists */
  checkName(tenantId: string, name: string, id: string): Promise<void> {
    const taken = (owner: string) => new SessionExists(owner);
    return this.checkFree(nameOf(tenantId, name), taken, id, (session) => session.name === name);
  }

  releaseName(caller: Caller, name: string, id: string): Promise<void> {
    return this.release(nameOf(caller.tenantId, name), id, caller);
  }
}

function nameOf(tenantId: string, name: string): string {
  return nameStream('sessionName', tenantId, name);
}

/** Ignores that the thing to delete was deleted meanwhile. @throws every error but NotFound */
export function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
