import { hash as hashOf } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  EventStore,
  leafOf,
  LogSigner,
  readSeals,
  type Recorded,
  type Signature,
  storedShape,
  withoutSealed,
  type WorkspacePart,
  workspaceLog,
} from '@fairlead/eventing';
import { currentReading } from '@fairlead/postgres';
import { FairShare, NoPlace, TooManyRequests } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';

/** Exports that one process makes at once: each reads the whole log. */
const AT_ONCE = 2;
/** Wait for one of them (ms). */
const PATIENCE_MS = 10_000;
const RETRY_AFTER_S = 30;
/** Time after which a client that reads nothing is disconnected (ms), and the least bytes a second that it must read. */
const STALLED_MS = 60_000;
const SLOWEST = 50_000;
/** Lines are sent together when they have this many characters. */
const CHUNK = 64 * 1024;

/** The signed end of an export: the workspace had these events up to this position of the log. */
interface WorkspaceHead {
  readonly workspace: string;
  readonly position: string;
  readonly events: number;
  readonly streams: number;
  readonly seals: number;
  readonly hash: string;
  /** Number of streams, of any workspace, that were deleted in the event store: nothing says what they held. */
  readonly deleted_streams: number;
  readonly exported_at: string;
}

/** The text that the signature of an export is over. */
function headText(head: WorkspaceHead): string {
  const { workspace, position, events, streams, seals, hash, deleted_streams, exported_at } = head;
  const counts = [events, streams, seals, deleted_streams];
  return JSON.stringify(['fairlead workspace', workspace, position, ...counts, hash, exported_at]);
}

/** Everything that a workspace has in the log, for somebody else to verify without this service. */
@Injectable()
export class WorkspaceExport {
  private readonly turns = new FairShare(AT_ONCE, { perOwner: 1, waiting: 1, waitingTogether: 10 });

  constructor(
    private readonly signer: LogSigner,
    private readonly store: EventStore,
  ) {}

  /**
   * JSON lines: the workspace and the position up to which they go, its events in the order of the log as they were
   * written (encrypted secrets as their SHA-256), each seal of the log after the events it covers, and a signed last
   * line. Without that line an export is not complete. It ends when the client of the current request has gone.
   * @throws TooManyRequests while the workspace is being exported already
   */
  async open(workspace: string): Promise<Readable> {
    // Without a key nothing is exported: a lost one is found out before the answer begins.
    const sign = await this.signer.key();
    const signal = currentReading()?.signal;
    if (this.turns.of(workspace) > 0)
      throw new TooManyRequests(RETRY_AFTER_S, 'This workspace is being exported already.');
    const giveBack = await this.turns.wait(workspace, { patience: PATIENCE_MS, signal }).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      throw new TooManyRequests(RETRY_AFTER_S, 'Too many workspaces are being exported.');
    });
    let [waitsSince, allowedMs] = [Infinity, STALLED_MS];
    const chunks = this.chunks(workspace, sign, signal);
    const answer = Readable.from(
      (async function* () {
        for await (const chunk of chunks) {
          waitsSince = performance.now();
          yield chunk;
          allowedMs += (chunk.length / SLOWEST) * 1000 - (performance.now() - waitsSince);
          allowedMs = Math.min(allowedMs, STALLED_MS);
          waitsSince = Infinity;
        }
      })(),
      { objectMode: false },
    );
    // A client that reads nothing, or little at a time, keeps others from their exports.
    const watch = setInterval(() => {
      if (performance.now() - waitsSince > allowedMs) answer.destroy(new Error('The client reads too slowly.'));
    }, STALLED_MS / 4);
    return answer.once('close', () => {
      clearInterval(watch);
      giveBack();
    });
  }

  private async *chunks(
    workspace: string,
    sign: (text: string) => Signature,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string, void> {
    const { seals } = await readSeals(this.store);
    const end = await this.store.head();
    const about = { workspace, position: String(end) };
    const exported_at = new Date().toISOString();
    yield line({ ...about, exported_at });
    const count = { events: 0, streams: 0, seals: 0 };
    let [hash, ready] = ['', ''];
    for await (const part of workspaceLog(this.store, workspace, seals, end, signal)) {
      if ('seal' in part) count.seals += 1;
      else hash = hashAfter(hash, part);
      if ('event' in part) count.events += 1;
      if ('event' in part && part.isFirstOfStream) count.streams += 1;
      ready += line('event' in part ? written(part.event) : part);
      if (ready.length < CHUNK) continue;
      yield ready;
      ready = '';
    }
    const deleted_streams = (await this.store.deletedStreams()).length;
    const head = { ...about, ...count, hash, deleted_streams, exported_at };
    yield `${ready}${line({ head, ...sign(headText(head)) })}`;
  }
}

/**
 * The hash of the events of an export after its next line. It covers no seals, because a later export has more of them
 * between the same events.
 */
function hashAfter(before: string, part: Exclude<WorkspacePart, { seal: unknown }>): string {
  const { stream, version, hash } = 'event' in part ? { ...part.event, hash: leafOf(part.event) } : part.foreign;
  const kind = 'event' in part ? 'event' : 'foreign';
  return hashOf('sha256', JSON.stringify(['fairlead workspace', before, kind, stream, version, hash]), 'base64url');
}

/** An event as its hashes are computed from it, without its position, which changes when the log is moved. */
function written(event: Recorded) {
  const { id, stream, version, type, data, metadata, time } = storedShape(event);
  return { id, stream, version, type, data, metadata, time };
}

function line(value: object): string {
  return `${withoutSealed(JSON.stringify(value))}\n`;
}
