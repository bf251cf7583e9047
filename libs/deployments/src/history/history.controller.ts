import { Readable } from 'node:stream';
import { actorNames, EventStore, type Recorded, streamName } from '@fairlead/eventing';
import { Answers, Area, CommandContext, Context, Describe, linkNext, Path, Query, Scope } from '@fairlead/api';
import { type Infer, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { commandEntry, HistoryFold, readingEntry } from '../deployment/audit';
import type { CommandEvent, DeploymentEvent, SecretsRead } from '../deployment/deployment-events';
import * as answers from '../deployment/deployment.answers.schema';
import { deploymentPath, historyQuery } from '../deployment/deployment.schema';
import { DeploymentNotFound } from '../deployment/deployment.errors';
import { HistoryExport } from './history.export';

/** The events of a stream that were read last, and the fold of those before them. */
interface NewestPart {
  readonly fold: HistoryFold;
  events: readonly Recorded<DeploymentEvent>[];
}

/** An event of a stream beside that of the deployment. */
type BesideEvent = Recorded<SecretsRead> | Recorded<CommandEvent>;

function isReading(event: BesideEvent): event is Recorded<SecretsRead> {
  return event.type === 'SecretsRead';
}

@Area('Deployments')
@Controller('v2/deployments/:deployment_id/history')
export class HistoryController {
  constructor(
    private readonly store: EventStore,
    private readonly exports: HistoryExport,
  ) {}

  /**
   * The history of a deployment, also after its removal. `after` leaves out all up to the event that made this version.
   */
  @Get()
  @Scope('read')
  @Describe({
    summary: 'List what happened to a deployment',
    description: 'The newest first unless `order` says otherwise, also after its removal.',
    gives: ['Link'],
  })
  @Answers({ 200: answers.history })
  async list(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Query(historyQuery) query: Infer<typeof historyQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = path.deployment_id;
    const beside = await this.eventsBeside(id);
    const places: { position: bigint; type: string }[] = beside.map(({ position, type }) => ({ position, type }));
    let after = 0n;
    const newest: NewestPart = { fold: new HistoryFold(), events: [] };
    for await (const events of this.eventsOf(context, id)) {
      for (const event of newest.events) newest.fold.take(event, false);
      newest.events = events;
      for (const { position, type, version } of events) {
        places.push({ position, type });
        // Without an event of this version, what came after the newest one is asked for.
        if (query.after !== undefined && version <= query.after) after = position;
      }
    }
    const { types, order } = query;
    const found = places.filter(({ position, type }) => position > after && (types?.includes(type) ?? true));
    found.sort((a, b) => (a.position < b.position ? -1 : 1));
    if (order === 'desc') found.reverse();
    const page = found.slice(query.offset, query.offset + query.limit).map(({ position }) => position);
    const offset = query.offset + page.length;
    if (offset < found.length) linkNext(reply, offset);
    const entries = await this.entriesAt(context, id, page, beside, newest);
    const names = await actorNames(
      this.store,
      entries.map(({ actor }) => actor),
    );
    const resources = entries.map(({ actor, ...entry }) => {
      return { ...entry, actor, actor_name: names.get(actor) ?? null };
    });
    return { resources, offset, total: found.length };
  }

  /**
   * The history entries at some positions. The events of a long history are never in memory together: all are read
   * again when a position is before its newest part.
   */
  private async entriesAt(
    context: CommandContext,
    id: string,
    positions: readonly bigint[],
    beside: readonly BesideEvent[],
    newest: NewestPart,
  ) {
    const wanted = new Set(positions);
    const entries = new Map(
      beside
        .filter(({ position }) => wanted.has(position))
        .map((event) => [event.position, isReading(event) ? readingEntry(event) : commandEntry(event)]),
    );
    const isNew = positions.every((position) => position >= newest.events[0]!.position || entries.has(position));
    const fold = isNew ? newest.fold : new HistoryFold();
    for await (const events of isNew ? [newest.events] : this.eventsOf(context, id)) {
      for (const event of events) {
        const entry = fold.take(event, wanted.has(event.position));
        if (entry) entries.set(event.position, entry);
      }
    }
    return positions.map((position) => entries.get(position)!);
  }

  /** The events themselves as JSON lines, with a signed last line: to be kept, and verified without this service. */
  @Get('export')
  @Scope('read')
  @Describe({
    summary: 'Export the events of a deployment',
    description: 'As JSON lines, the last one signed: to be kept, and verified without this service.',
    gives: ['Content-Disposition'],
  })
  @Answers({ 200: { content: { 'application/jsonl': str() } } })
  async export(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const id = path.deployment_id;
    const lines = this.exports.lines(this.eventsOf(context, id));
    // A deployment that is not there is found out before the answer begins.
    const first = await lines.next();
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="deployment-${id}.jsonl"`);
    return Readable.from(joined(first, lines), { objectMode: false });
  }

  /** Readings of the secrets of a deployment, and commands that ran beside its program. */
  private async eventsBeside(id: string): Promise<BesideEvent[]> {
    const streams = ['secretAccess', 'command'].map((category) => this.store.read(streamName(category, id)));
    return (await Promise.all(streams)).flat() as BesideEvent[];
  }

  private async *eventsOf(context: CommandContext, id: string): AsyncGenerator<Recorded<DeploymentEvent>[]> {
    let isFound = false;
    for await (const events of this.store.parts(streamName('deployment', id))) {
      const [first] = events as Recorded<DeploymentEvent>[];
      isFound ||= first!.type === 'DeploymentCreated' && first!.data.tenant_id === context.tenantId;
      if (!isFound) break;
      yield events as Recorded<DeploymentEvent>[];
    }
    if (!isFound) throw new DeploymentNotFound(id);
  }
}

async function* joined(first: IteratorResult<string, void>, rest: AsyncIterable<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value;
  yield* rest;
}
