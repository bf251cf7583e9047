import { Readable } from 'node:stream';
import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { FairShare, type Infer, str, TooManyRequests } from '@fairlead/schema';
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { subscribes } from '../event-types';
import { ChangesFeed } from './changes-feed.service';
import { changes, changesQuery } from './changes.schema';
import type { Change, RecentChanges } from './recent-changes';

type Wanted = Pick<Infer<typeof changesQuery>, 'types' | 'about'>;

/** Changes after a position, and the position up to which these are all. */
interface News {
  readonly changes: readonly Change[];
  readonly position: bigint;
  readonly reset: boolean;
}

/** A stream says so often that it is there. */
const HEARTBEAT_MS = 15_000;
/** Longest life of a stream (ms): the client connects again, and its key is checked again. */
const LIFETIME_MS = 300_000;
/** A client that has lost its stream connects again after so long. */
const RECONNECT_MS = 2000;
const MOST_WAITING = { key: 100, workspace: 200, all: 1000 };
/** A client that was turned away may come again after so many seconds. */
const RETRY_S = 5;
/** Position in another log, or in none. */
const UNKNOWN = -1n;

/** Changes in a workspace, for clients that want to know them at once: as a stream, or one answer after the other. */
@Area('Webhooks')
@Controller('v1/changes')
export class ChangesController {
  /** Requests of this process that wait for changes. */
  private readonly waiting = {
    keys: new FairShare(Infinity, { perOwner: MOST_WAITING.key }),
    workspaces: new FairShare(MOST_WAITING.all, { perOwner: MOST_WAITING.workspace }),
  };

  constructor(private readonly feed: ChangesFeed) {}

  @Get()
  @Scope('read', { load: 'wait', strict: true })
  @Describe({
    summary: 'Wait for changes in the workspace',
    description:
      'The types and data of webhooks. With `Accept: text/event-stream` a stream of server-sent events, whose `id` is the position; an event `reset` says that changes may be missing. Else one answer, at once when something has changed, or after `wait` seconds.',
  })
  @Answers({ 200: { content: { 'application/json': changes, 'text/event-stream': str() } } })
  async list(
    @Context() { actor, tenantId }: CommandContext,
    @Query(changesQuery) { after, wait, ...wanted }: Infer<typeof changesQuery>,
    @Headers('accept') accept: string | undefined,
    @Headers('last-event-id') lastId: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const giveBack = this.takePlace(actor.keyId, tenantId);
    const gone = new AbortController();
    const leave = () => {
      gone.abort();
      giveBack();
    };
    // The client may have gone while its key was looked at: then its connection closes no more.
    if (reply.raw.destroyed) leave();
    else reply.raw.once('close', leave);
    const recent = await this.feed.known();
    const from = await this.startOf(recent, after ?? lastId);
    void reply.header('cache-control', 'no-store');
    if (wait === undefined && accept?.includes('text/event-stream')) {
      void reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
      const events = this.events(recent, tenantId, wanted, from, gone.signal);
      return Readable.from(events, { objectMode: false, highWaterMark: 1 });
    }
    const news = await this.poll(recent, tenantId, wanted, from, (wait ?? 0) * 1000, gone.signal);
    void reply.header('content-type', 'application/json; charset=utf-8');
    const shown = news.changes.map(({ position, text }) => `{"position":"${position}",${text.slice(1)}`);
    return `{"changes":[${shown.join(',')}],"position":"${news.position}","reset":${news.reset}}`;
  }

  /** @throws TooManyRequests when the key, its workspace, or all together have as many as they may */
  private takePlace(keyId: string, workspace: string): () => void {
    const { keys, workspaces } = this.waiting;
    if (!keys.allows(keyId) || !workspaces.take(workspace))
      throw new TooManyRequests(RETRY_S, 'Too many requests wait for changes, try again later.');
    keys.take(keyId);
    return () => {
      keys.give(keyId);
      workspaces.give(workspace);
    };
  }

  private async startOf(recent: RecentChanges, text: string | undefined): Promise<bigint> {
    if (text === undefined || text === '') return recent.reached;
    const position = /^\d{1,20}$/.test(text) ? BigInt(text) : UNKNOWN;
    return (await this.feed.has(position)) ? position : UNKNOWN;
  }

  private async poll(
    recent: RecentChanges,
    workspace: string,
    wanted: Wanted,
    from: bigint,
    ms: number,
    gone: AbortSignal,
  ): Promise<News> {
    const deadline = performance.now() + ms;
    for (let position = from; ;) {
      const news = newsAfter(recent, workspace, position, wanted);
      const left = deadline - performance.now();
      if (news.reset || news.changes.length > 0 || left <= 0 || this.isOver(gone)) return news;
      ({ position } = news);
      await this.feed.next(workspace, left, gone);
    }
  }

  private async *events(
    recent: RecentChanges,
    workspace: string,
    wanted: Wanted,
    from: bigint,
    gone: AbortSignal,
  ): AsyncIterable<string> {
    const end = performance.now() + LIFETIME_MS;
    let position = from;
    yield `retry: ${RECONNECT_MS}\n\n`;
    while (performance.now() < end && !this.isOver(gone)) {
      const news = newsAfter(recent, workspace, position, wanted);
      ({ position } = news);
      if (news.reset) yield `event: reset\ndata: {}\nid: ${position}\n\n`;
      for (const change of news.changes) yield eventOf(change);
      // An event without data only tells the client where it is.
      if (news.changes.length === 0) yield `: nothing new\nid: ${position}\n\n`;
      if (newsAfter(recent, workspace, position, {}).changes.length > 0) continue;
      await this.feed.next(workspace, HEARTBEAT_MS, gone);
    }
  }

  private isOver(gone: AbortSignal): boolean {
    return gone.aborted || this.feed.stopped.aborted;
  }
}

function newsAfter(recent: RecentChanges, workspace: string, position: bigint, { types, about }: Wanted): News {
  const found = recent.after(workspace, position);
  const reached = position > recent.reached ? position : recent.reached;
  const shown = (found ?? []).filter(
    ({ type, ids }) => (!types || subscribes(types, type)) && (!about || about.some((id) => ids.has(id))),
  );
  return { changes: shown, position: reached, reset: found === undefined };
}

function eventOf({ position, type, text }: Change): string {
  return `id: ${position}\nevent: ${type}\ndata: ${text}\n\n`;
}
