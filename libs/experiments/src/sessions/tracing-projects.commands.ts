import { type Caller, EventStore, idOf, type Recorded } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import {
  createSession,
  newProject,
  SessionCommands,
  type SessionCreated,
  SessionExists,
  sessionStream,
  unlessGone,
} from '@fairlead/runs';

/** Characters of a deployment's name that another name of its tracing project begins with. */
const NAME_KEPT = 200;

@Injectable()
export class TracingProjectCommands {
  constructor(
    private readonly store: EventStore,
    private readonly sessions: SessionCommands,
  ) {}

  /**
   * Makes the tracing project `id` of a deployment. A name that another tracing project has is left to that: the
   * deployment then traces into it. An experiment takes no such runs; the project then gets a name of its own, which
   * the deployment hears of.
   */
  async create(caller: Caller, id: string, name: string, deployment_id: string, time: string): Promise<void> {
    // Delivered again: the project has been made, and may have been deleted, with its name, since.
    if (await this.sessions.stateOf(id)) return;
    const named = await this.reserve(caller, name, id, deployment_id);
    if (named === undefined) return;
    await this.sessions.run(caller, id, createSession({ ...newProject(named, time), deployment_id }));
  }

  /** Deletes the project that a deployment traces into, as far as it is the deployment's; `asked`: time of the request. */
  async delete(caller: Caller, id: string, name: string, asked: string): Promise<void> {
    const project = await this.projectOf(id, name, caller.tenantId, asked);
    if (project !== undefined) await this.sessions.delete(caller, project).catch(unlessGone);
  }

  /** Reserves the first name that is free; undefined when a tracing project has the name of the deployment. */
  private async reserve(caller: Caller, name: string, id: string, deployment: string) {
    const begin = [...name].slice(0, NAME_KEPT).join('');
    for (const wanted of [name, `${begin} (deployment)`, `${begin} (deployment ${deployment})`]) {
      try {
        await this.sessions.reserveName(caller, wanted, id);
        return wanted;
      } catch (error) {
        if (!(error instanceof SessionExists)) throw error;
      }
      if (wanted === name && (await this.isTracingProject(caller.tenantId, name))) return undefined;
    }
    throw new SessionExists(id);
  }

  private async isTracingProject(tenant: string, name: string): Promise<boolean> {
    const begin = await this.beginOf(tenant, name);
    return begin !== undefined && !begin.data.reference_dataset_id;
  }

  /**
   * The id of the project that a deployment traces into: its own, or the one that an earlier deployment of its name
   * has left. A session of any other kind that has the name is not a deployment's to delete.
   */
  private async projectOf(id: string, name: string, tenant: string, asked: string): Promise<string | undefined> {
    if (await this.sessions.stateOf(id)) return id;
    const begin = await this.beginOf(tenant, name);
    // A later deployment of the name may have begun one of its own by now.
    return begin && 'deployment_id' in begin.data && begin.time < asked ? idOf(begin.stream) : undefined;
  }

  /** Returns the event that began the session of a name; undefined when there is none, or an upload began it. */
  private async beginOf(tenant: string, name: string): Promise<Recorded<SessionCreated> | undefined> {
    const owner = await this.sessions.named(tenant, name);
    const [first] = owner === undefined ? [] : await this.store.read(sessionStream(owner));
    return first?.type === 'SessionCreated' ? (first as Recorded<SessionCreated>) : undefined;
  }
}
