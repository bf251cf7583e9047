import { setTimeout as delay } from 'node:timers/promises';
import { asleep } from './asleep';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

interface Target {
  readonly url: string;
  readonly key: string;
}

/** No request takes longer than this, whatever is killed meanwhile; the short form also runs where everything is slow. */
const LONGEST_MS = process.env.FAIRLEAD_FAULTS === 'full' ? 20_000 : 120_000;
/** A connection that was taken before its process was killed may break so much later. */
const AFTERMATH_MS = 1000;

/**
 * Sends requests to a service that may be killed at any time, each one again until it is answered. Answers that no
 * client should have to expect are noted as faults.
 */
export class Courier {
  /** Where the service is; undefined while it is down. */
  target: Target | undefined;
  readonly faults: string[] = [];
  /** When the newest request that has succeeded was sent, by the clock; by the first part of its path. */
  readonly successes = new Map<string, number>();
  /** Milliseconds that the slowest answer took; may be set back. */
  slowest = 0;
  readonly counts = { succeeded: 0, unanswered: 0, unavailable: 0, running: 0 };
  private lastKill = 0;
  private readonly givenUp = new AbortController();

  constructor(private readonly longestMs = LONGEST_MS) {}

  get lastSuccess(): number {
    return Math.max(0, ...this.successes.values());
  }

  /** To be called right before what answers requests is killed: those under way may stay without an answer. */
  expectBreak(): void {
    this.lastKill = Date.now();
  }

  /** The same, of a service that cannot be reached then until `target` is set again. */
  expectKill(): void {
    this.expectBreak();
    this.target = undefined;
  }

  /** Rejects what is still to be delivered. */
  giveUp(): void {
    this.givenUp.abort();
  }

  /**
   * Sends a request, the very same one again when no answer came or the service says that it is not available, or is
   * still at it; `waiting` is told of the latter. Resolves with any other answer.
   */
  async deliver(request: Request, waiting: (waits: boolean) => void = () => undefined): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const { target } = this;
      this.givenUp.signal.throwIfAborted();
      if (!target) {
        await delay(10);
        continue;
      }
      const sent = Date.now();
      const slept = asleep();
      const answer = await this.attempt(target, request, sent);
      if (answer) this.slowest = Math.max(this.slowest, Date.now() - sent - (asleep() - slept));
      if (answer && answer.status < 500 && !isRunning(answer)) {
        if (answer.status < 300) {
          this.counts.succeeded += 1;
          const area = request.path.split('/', 2)[1]!;
          this.successes.set(area, Math.max(this.successes.get(area) ?? 0, sent));
        }
        return answer;
      }
      if (answer && isRunning(answer)) {
        if (attempt === 1) this.note(request, 'is still running, though it was sent only once');
        this.counts.running += 1;
        waiting(true);
        await delay(250);
        waiting(false);
      } else {
        await delay(50);
      }
    }
  }

  private async attempt(target: Target, request: Request, sent: number): Promise<Answer | undefined> {
    const { method, path, body, headers } = request;
    const slept = asleep();
    try {
      const response = await fetch(target.url + path, {
        method,
        body,
        headers: { 'x-api-key': target.key, ...(body && { 'content-type': 'application/json' }), ...headers },
        signal: AbortSignal.timeout(this.longestMs),
      });
      const text = await response.text();
      const { status, headers: given } = response;
      const answer = { status, headers: given, text, json: text && JSON.parse(text) };
      if (answer.status >= 500) this.judge(request, answer, text);
      return answer;
    } catch (error) {
      this.counts.unanswered += 1;
      if (sent > this.lastKill + AFTERMATH_MS && asleep() === slept) {
        const { message, cause } = error as Error;
        const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
        this.note(request, `has no answer after ${Date.now() - sent} ms, though the service was not killed: ${reason}`);
      }
      return undefined;
    }
  }

  private judge(request: Request, { status, headers }: Answer, text: string): void {
    this.counts.unavailable += 1;
    if ((status !== 503 && status !== 504) || !/^\d+$/.test(headers.get('retry-after') ?? '')) {
      this.note(request, `was answered with ${status}, Retry-After ${headers.get('retry-after')}: ${text}`);
    }
  }

  private note({ method, path }: Request, what: string): void {
    this.faults.push(`${new Date().toISOString()} ${method} ${path} ${what}`);
  }
}

function isRunning({ status, json }: Answer): boolean {
  return status === 409 && /still running/.test(json.detail);
}
