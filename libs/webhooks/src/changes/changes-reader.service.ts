import type { ServerResponse } from 'node:http';
import { FairShare, type Infer, TooManyRequests } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { subscribes } from '../webhook/event-types';
import { ChangesFeed } from './changes-feed.service';
import type { changesQuery } from './changes.schema';
import type { Change, RecentChanges } from './recent-changes';

type Wanted = Pick<Infer<typeof changesQuery>, 'types' | 'about'>;

/** A request that waits for changes of its workspace after a position. */
interface Reading {
  readonly recent: RecentChanges;
  readonly workspace: string;
  readonly wanted: Wanted;
  readonly from: bigint;
  readonly gone: AbortSignal;
}

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

/** Reads the changes of workspaces for requests that wait for them. */
@Injectable()
export class ChangesReader {
  /** Requests of this process that wait for changes. */
  private readonly waiting = {
    keys: new FairShare(Infinity, { perOwner: MOST_WAITING.key }),
    workspaces: new FairShare(MOST_WAITING.all, { perOwner: MOST_WAITING.workspace }),
  };

  constructor(private readonly feed: ChangesFeed) {}

  /**
   * Gives a request a place among those that wait, until its connection closes; then the signal aborts.
   * @throws TooManyRequests when the key, its workspace, or all together have as many as they may
   */
  enter(keyId: string, workspace: string, answer: ServerResponse): AbortSignal {
    const giveBack = this.takePlace(keyId, workspace);
    const gone = new AbortController();
    const leave = () => {
      gone.abort();
      giveBack();
    };
    // The client may have gone while its key was looked at: then its connection closes no more.
    if (answer.destroyed) leave();
    else answer.once('close', leave);
    return gone.signal;
  }

  /** Begins at the position that a client names, or with what happens from now on. */
  async begin(workspace: string, wanted: Wanted, position: string | undefined, gone: AbortSignal): Promise<Reading> {
    const recent = await this.feed.known();
    return { recent, workspace, wanted, from: await this.startOf(recent, position), gone };
  }

  /** Changes as JSON, as soon as there are some, or none when the time (ms) is over. */
  async poll({ recent, workspace, wanted, from, gone }: Reading, ms: number): Promise<string> {
    const deadline = performance.now() + ms;
    for (let position = from; ;) {
      const news = newsAfter(recent, workspace, position, wanted);
      const left = deadline - performance.now();
      if (news.reset || news.changes.length > 0 || left <= 0 || this.isOver(gone)) return jsonOf(news);
      ({ position } = news);
      await this.feed.next(workspace, left, gone);
    }
  }

  /** Changes as server-sent events. */
  async *events({ recent, workspace, wanted, from, gone }: Reading): AsyncIterable<string> {
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

function jsonOf({ changes, position, reset }: News): string {
  const shown = changes.map((change) => `{"position":"${change.position}",${change.text.slice(1)}`);
  return `{"changes":[${shown.join(',')}],"position":"${position}","reset":${reset}}`;
}
