import { Injectable, Logger } from '@nestjs/common';
import { Pool } from 'pg';
import { levelOf, type LogLevel, LogLines, Redaction, type Step, type TextSink } from '@fairlead/executors';

/** Which of the two logs of a revision a line belongs to. */
export type LogPhase = 'build' | 'deploy';

interface Line {
  readonly phase: LogPhase;
  readonly level: LogLevel;
  readonly time: string;
  readonly message: string;
}

const FLUSH_MS = 100;
/** Lines that wait for the database before the writer has to wait as well. */
const WAITING = 1000;
/** Lines that one attempt may write. */
const MOST_LINES = 100_000;

/** The build and deploy logs of rollouts: opens one to write to, and deletes those of a deployment. */
@Injectable()
export class RolloutLogs {
  constructor(private readonly pool: Pool) {}

  /** The log of a revision; of the deployment as a whole when that is null. */
  open({ tenantId, id }: { readonly tenantId: string; readonly id: string }, revisionId: string | null): RolloutLog {
    return new RolloutLog(this.pool, tenantId, id, revisionId);
  }

  /** Forgets all logs of a deployment. */
  async remove(tenantId: string, deploymentId: string): Promise<void> {
    const text = 'delete from rollout_logs where deployment_id = $1 and (tenant_id = $2 or tenant_id is null)';
    await this.pool.query(text, [deploymentId, tenantId]);
  }
}

/** The build and deploy log of one attempt. Lines become readable within a fraction of a second. */
export class RolloutLog {
  private readonly logger = new Logger('RolloutLog');
  private redaction = new Redaction([]);
  private lines: Line[] = [];
  private written = 0;
  private timer: NodeJS.Timeout | undefined;
  private flushed: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly tenantId: string,
    private readonly deploymentId: string,
    private readonly revisionId: string | null,
  ) {}

  /** From now on these values are hidden. */
  hide(secrets: Iterable<string>): void {
    this.redaction = new Redaction(secrets);
  }

  /** The text without the hidden values. */
  safe(text: string): string {
    return this.redaction.apply(text);
  }

  /** Context of a step of a phase, which writes to this log. */
  step(phase: LogPhase, signal: AbortSignal, waits: () => Promise<void>): Step {
    return {
      signal,
      waits,
      log: (level, message) => this.write(phase, level, message),
      output: (level) => this.output(phase, level),
      safe: (text) => this.safe(text),
    };
  }

  /** Adds a message, one entry per line of it; resolves when more may come. */
  async write(phase: LogPhase, level: LogLevel, message: string): Promise<void> {
    const lines = new LogLines(this.redaction);
    await this.add(phase, level, [...lines.push(message), ...lines.end()]);
  }

  /** Everything written so far is readable. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushed = this.flushed.then(() => this.insert());
    return this.flushed;
  }

  private output(phase: LogPhase, level: LogLevel): TextSink {
    const lines = new LogLines(this.redaction);
    return {
      write: (text) => this.addOutput(phase, level, lines.push(text)),
      end: () => this.addOutput(phase, level, lines.end()),
    };
  }

  /** Adds lines of a program with the levels that they tell of themselves; `level` is that of the others. */
  private async addOutput(phase: LogPhase, level: LogLevel, messages: readonly string[]): Promise<void> {
    for (const message of messages) {
      const said = levelOf(message, level);
      await this.add(phase, said === 'CRITICAL' ? 'ERROR' : said, [message]);
    }
  }

  private async add(phase: LogPhase, level: LogLevel, messages: readonly string[]): Promise<void> {
    const time = new Date().toISOString();
    for (const message of messages) {
      if (this.written > MOST_LINES) return;
      const last = this.written++ === MOST_LINES;
      this.lines.push({ phase, level, time, message: last ? `No more than ${MOST_LINES} lines are kept.` : message });
    }
    if (this.lines.length >= WAITING) await this.flush();
    else if (this.lines.length > 0) this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  private async insert(): Promise<void> {
    const { lines } = this;
    if (lines.length === 0) return;
    this.lines = [];
    const columns = [
      lines.map(({ phase }) => phase),
      lines.map(({ level }) => level),
      lines.map(({ time }) => time),
      lines.map(({ message }) => message),
    ];
    try {
      await this.pool.query({
        name: 'insert rollout logs',
        text: `insert into rollout_logs (deployment_id, revision_id, tenant_id, phase, level, logged_at, message)
          select $1::uuid, $2::uuid, $3::uuid, * from unnest($4::text[], $5::text[], $6::timestamptz[], $7::text[])`,
        values: [this.deploymentId, this.revisionId, this.tenantId, ...columns],
      });
    } catch (error) {
      // A rollout does not fail for want of its log.
      this.logger.error(`${lines.length} log lines of ${this.deploymentId} are lost: ${String(error)}`);
    }
  }
}
