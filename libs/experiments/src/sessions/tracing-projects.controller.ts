import type {
  DeploymentCreatedMessage,
  DeploymentDeletionRequestedMessage,
  SessionCreatedMessage,
} from '@fairlead/contracts';
import { type Caller, EventContext, EventStore, idOf, once, type Recorded, serviceCaller } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { Pool } from 'pg';
import { createSession, sessionStream } from './experiment';
import { tracingProjectId } from '../common/ids';
import { SessionExists } from './session.errors';
import { SessionCommands, unlessGone } from './sessions.commands';

const CREATED = 'experiments.tracing-projects.created';
const DELETED = 'experiments.tracing-projects.deleted';

/** Characters of a deployment's name that another name of its tracing project begins with. */
const NAME_KEPT = 200;

/** Gives every deployment a tracing project of its name, and takes it away again when that is asked for. */
@Controller()
export class TracingProjectsController {
  constructor(
    private readonly store: EventStore,
    private readonly sessions: SessionCommands,
    private readonly pool: Pool,
  ) {}

  /**
   * A name that another tracing project has is left to that: the deployment then traces into it. An experiment takes no
   * such runs; the project then gets a name of its own, which the deployment hears of.
   */
  @EventPattern<string>('DeploymentCreated')
  created(@Payload() { name }: DeploymentCreatedMessage, @Ctx() context: EventContext): Promise<void> {
    return this.react(CREATED, context, async (id, caller) => {
      // Delivered again: the project has been made, and may have been deleted, with its name, since.
      if (await this.sessions.stateOf(id)) return;
      const named = await this.reserve(caller, name, id, idOf(context.event.stream));
      if (named === undefined) return;
      const project = {
        name: named,
        description: null,
        start_time: context.event.time,
        end_time: null,
        extra: null,
        reference_dataset_id: null,
        default_dataset_id: null,
        trace_tier: 'longlived',
        deployment_id: idOf(context.event.stream),
      };
      await this.sessions.run(caller, id, createSession(project));
    });
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  deleted(@Payload() data: DeploymentDeletionRequestedMessage, @Ctx() context: EventContext): Promise<void> {
    return this.react(DELETED, context, async (id, caller) => {
      if (!data.delete_tracing_project) return;
      await this.mustBeCreated(context.event.stream);
      const project = await this.projectOf(id, data.name, caller.tenantId, context.event);
      if (project !== undefined) await this.sessions.delete(caller, project).catch(unlessGone);
    });
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
    const owner = await this.sessions.named(tenant, name);
    const [first] = owner === undefined ? [] : await this.store.read(sessionStream(owner));
    return first?.type === 'SessionCreated' && !(first.data as SessionCreatedMessage).reference_dataset_id;
  }

  /**
   * The id of the project that a deployment traces into: its own, or the one that an earlier deployment of its name
   * has left. A session of any other kind that has the name is not a deployment's to delete.
   */
  private async projectOf(id: string, name: string, tenant: string, asked: Recorded): Promise<string | undefined> {
    if (await this.sessions.stateOf(id)) return id;
    const owner = await this.sessions.named(tenant, name);
    const [first] = owner === undefined ? [] : await this.store.read(sessionStream(owner));
    const isLeft = first?.type === 'SessionCreated' && 'deployment_id' in (first.data as object);
    // A later deployment of the name may have begun one of its own by now.
    return isLeft && first.time < asked.time ? owner : undefined;
  }

  /** The two kinds of event come side by side; a deletion that is ahead is delivered again. */
  private async mustBeCreated(deployment: string): Promise<void> {
    const { rowCount } = await this.pool.query('select 1 from inbox where consumer = $1 and subject = $2', [
      CREATED,
      deployment,
    ]);
    if (!rowCount) throw new Error(`The tracing project of ${deployment} is still to be created.`);
  }

  private async react(
    consumer: string,
    { event, metadata }: EventContext,
    work: (projectId: string, caller: Caller) => Promise<void>,
  ): Promise<void> {
    const { tenant, traceparent } = metadata;
    if (tenant === undefined) return;
    const caller = serviceCaller({ tenant, traceparent, actor: 'system:tracing-projects', causationId: event.id });
    await once(this.pool, consumer, event.stream, event.version, () => work(tracingProjectId(event.stream), caller));
  }
}
