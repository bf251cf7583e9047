import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandContext } from '@fairlead/api';
import { BadRequest, TooManyRequests } from '@fairlead/schema';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { type CommandEnd, type CommandPlace, Executor, readPace, Redaction } from '@fairlead/executors';
import { CommandRefused } from '../rollout/rollout.errors';
import { type CommandEvent, RolloutReports } from '../rollout/rollout-reports.service';
import type { Deployed } from '../rollout/target';
import { type CommandLine, type CommandRequest, MOST_CHARACTERS } from './command.schema';
import { SafeText, safeText } from './safe-text';

/** Commands that run at a time. */
const MOST_OF_DEPLOYMENT = 3;
const MOST_OF_WORKSPACE = 10;
const RETRY_S = 5;
/** Characters that a command may write. */
const MOST_OUTPUT = 32 * 1024 ** 2;
/** First and longest pause before the end of a command is recorded again, and for how long that is tried (ms). */
const SAY_AGAIN = { first: 1000, most: 60_000, until: 60 * 60_000 };
/** Interval of lines that show that the connection is not lost while a command is silent (ms). */
const HEARTBEAT_MS = 15_000;

const REASONS: Readonly<Record<string, string>> = {
  record: 'it is recorded, and nothing is run (EXECUTOR=record)',
  command: 'the executor command does not know what its commands have started',
  kubernetes: 'its pods are in a cluster, where kubectl exec runs commands',
};

/** Runs commands beside the programs of deployments, and records each of them before it starts and when it has ended. */
@Injectable()
export class CommandsService implements OnModuleDestroy {
  private readonly logger = new Logger('Deployments');
  private readonly stopping = new AbortController();
  /** The deployment and the workspace of each command that runs. */
  private readonly places = new Set<{ readonly id: string; readonly tenantId: string }>();
  private readonly running = new Set<Promise<unknown>>();
  /** Looking for secrets is work: all commands together are not read faster than this says. */
  private readonly pauseAfter = readPace();

  constructor(
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
  ) {}

  /** Ends what runs, and waits until that is recorded. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort(new Error('The server stops.'));
    await Promise.all(this.running);
  }

  /**
   * Starts a command, and answers its lines while they come. It is ended when `gone` aborts.
   * @throws BadRequest, DeploymentMissing, CommandRefused, TooManyRequests
   */
  async run(
    { tenantId, metadata }: CommandContext,
    deployment_id: string,
    { command, timeout }: CommandRequest,
    gone: AbortSignal,
  ): Promise<Readable> {
    if (command[0] === '') throw new BadRequest('The first word of command names a program and is not empty.');
    if (command.join('').length > MOST_CHARACTERS)
      throw new BadRequest(`The words of command have more than ${MOST_CHARACTERS} characters together.`);
    const { state, version } = await this.reports.ownedAt(tenantId, deployment_id);
    if (state.deleting) throw new CommandRefused(deployment_id, 'it is being deleted');
    const leave = this.enter(deployment_id, tenantId);
    let place: CommandPlace | undefined;
    const end = () => (place?.close(), leave());
    try {
      place = await this.placeOf(deployment_id, state);
      const { revisionId: revision_id, secrets } = place;
      const redaction = new Redaction(secrets);
      const recorded = { deployment_id, command_id: uuid(), version };
      const words = command.map((word) => safeText(redaction, word));
      const data = { ...recorded, revision_id, command: words };
      await this.reports.sayCommand({ type: 'CommandStarted', data }, metadata);
      const output = new CommandOutput(redaction, this.pauseAfter);
      output.tell({ type: 'started', command_id: recorded.command_id, revision_id });
      const over = AbortSignal.any([gone, this.stopping.signal]);
      const used = place;
      const running = this.carryOut(used, { command, timeout }, output, over).then(async (ended) => {
        used.close();
        const { exitCode: exit_code, reason, duration_ms } = ended;
        const facts = { exit_code, ...(reason !== null && { reason }), duration_ms };
        const said = { id: uuid(), type: 'CommandEnded' as const, data: { ...recorded, ...facts } };
        const tell = () => output.end({ type: 'ended', exit_code, reason, duration_ms });
        const isRecorded = await this.sayEnded(said, metadata);
        // Until its end is recorded it counts as one that runs, and its client does not wait for that.
        if (!isRecorded) {
          tell();
          await this.sayLater(said, metadata);
        }
        leave();
        if (isRecorded) tell();
      });
      this.running.add(running);
      void running.finally(() => this.running.delete(running));
      return output.lines;
    } catch (error) {
      end();
      throw error;
    }
  }

  private async carryOut(
    place: CommandPlace,
    { command, timeout }: CommandRequest,
    output: CommandOutput,
    signal: AbortSignal,
  ): Promise<CommandEnd & { readonly duration_ms: number }> {
    const begun = performance.now();
    const limit = new AbortController();
    const late = setTimeout(() => limit.abort(new Error(`It took longer than ${timeout} s.`)), timeout * 1000).unref();
    const over = AbortSignal.any([signal, limit.signal]);
    const take = async (stream: 'stdout' | 'stderr', text: string) => {
      if (over.aborted) return;
      await output.take(stream, text, over);
      if (output.written > MOST_OUTPUT) limit.abort(new Error(`It wrote more than ${MOST_OUTPUT} characters.`));
    };
    const heartbeat = setInterval(() => output.beat(), HEARTBEAT_MS).unref();
    const ended = await place.run(command, take, over);
    clearTimeout(late);
    clearInterval(heartbeat);
    const reason = ended.reason === null ? null : safeText(output.redaction, ended.reason);
    return { ...ended, reason, duration_ms: Math.round(performance.now() - begun) };
  }

  /** Records that a command has ended; false when that could not be recorded now. */
  private async sayEnded(ended: CommandEvent, metadata: CommandContext['metadata']): Promise<boolean> {
    const saying = this.reports.sayCommand(ended, metadata).then(() => true);
    return saying.catch((error: unknown) => {
      this.logger.error(error);
      return false;
    });
  }

  /** Tries again to record that a command has ended, until it is recorded, or for an hour, or until the server stops. */
  private async sayLater(ended: CommandEvent, metadata: CommandContext['metadata']): Promise<void> {
    const { signal } = this.stopping;
    const latest = performance.now() + SAY_AGAIN.until;
    for (let pause = SAY_AGAIN.first; !signal.aborted && performance.now() < latest; pause *= 2) {
      const wait = Math.min(pause, SAY_AGAIN.most);
      await delay(wait, undefined, { signal, ref: false }).catch(() => undefined);
      if (await this.sayEnded(ended, metadata)) return;
    }
    this.logger.error(`It could not be recorded that a command has ended: ${JSON.stringify(ended.data)}`);
  }

  /** @throws CommandRefused */
  private async placeOf(id: string, { active_revision_id, executor: by }: Deployed): Promise<CommandPlace> {
    const { executor } = this;
    if (active_revision_id === null) throw new CommandRefused(id, 'no revision of it has been deployed');
    const name = by ?? executor.name;
    if (!executor.commands || name !== executor.name) {
      throw new CommandRefused(id, REASONS[name] ?? `the executor that deployed it (${name}) cannot do that`);
    }
    const place = await executor.commands(id);
    if (!place) throw new CommandRefused(id, 'a revision of it is being put in place, or its build is gone; try again');
    return place;
  }

  /** Counts a command. @throws TooManyRequests */
  private enter(id: string, tenantId: string): () => void {
    const all = [...this.places];
    const isFull =
      all.filter((one) => one.id === id).length >= MOST_OF_DEPLOYMENT ||
      all.filter((one) => one.tenantId === tenantId).length >= MOST_OF_WORKSPACE;
    if (isFull) {
      const most = `${MOST_OF_DEPLOYMENT} commands of a deployment and ${MOST_OF_WORKSPACE} of a workspace`;
      throw new TooManyRequests(RETRY_S, `At most ${most} run at a time, try again later.`);
    }
    const place = { id, tenantId };
    this.places.add(place);
    return () => this.places.delete(place);
  }
}

/** Output of a command as lines of JSON for its client, without secrets. */
class CommandOutput {
  /** Characters so far. */
  written = 0;
  readonly lines = new PassThrough();
  private readonly texts: Readonly<Record<'stdout' | 'stderr', SafeText>>;

  constructor(
    readonly redaction: Redaction,
    private readonly pauseAfter: (length: number) => number,
  ) {
    this.texts = { stdout: new SafeText(redaction), stderr: new SafeText(redaction) };
    // The client has gone.
    this.lines.on('error', () => undefined);
  }

  /** Resolves when the client can take more, or when `over` aborts. */
  async take(stream: 'stdout' | 'stderr', part: string, over: AbortSignal): Promise<void> {
    this.written += part.length;
    const text = this.texts[stream].push(part);
    const pause = this.pauseAfter(part.length);
    if (pause > 0) await delay(pause, undefined, { signal: over, ref: false }).catch(() => undefined);
    if (text !== '') this.tell({ type: stream, text });
    if (this.lines.writableNeedDrain) await once(this.lines, 'drain', { signal: over }).catch(() => undefined);
  }

  beat(): void {
    if (!this.lines.writableNeedDrain) this.tell({ type: 'running' });
  }

  tell(line: CommandLine): void {
    if (!this.lines.destroyed) this.lines.write(`${JSON.stringify(line)}\n`);
  }

  end(last: CommandLine): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = this.texts[stream].end();
      if (text !== '') this.tell({ type: stream, text });
    }
    this.tell(last);
    this.lines.end();
  }
}
