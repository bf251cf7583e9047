import { setTimeout as delay } from 'node:timers/promises';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface Target {
  readonly url: string;
  readonly key: string;
}

/** No request takes longer than this, whatever is killed meanwhile. */
const LONGEST_MS = 20_000;

/**
 * Sends requests to a service that may be killed at any time, each one again until it is answered. Answers that no
 * client should have to expect are noted as faults.
 */
export class Courier {
  /** Where the service is; undefined while it is down. */
  target: Target | undefined;
  readonly faults: string[] = [];
  /** When the newest request that has succeeded was sent, by the clock. */
  lastSuccess = 0;
  readonly counts = { succeeded: 0, unanswered: 0, unavailable: 0, running: 0 };
  private kills = 0;
  private readonly givenUp = new AbortController();

  /** To be called right before the service is killed: requests under way may stay without an answer. */
  expectKill(): void {
    this.kills += 1;
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
      const { target, kills } = this;
      this.givenUp.signal.throwIfAborted();
      if (!target) {
        await delay(10);
        continue;
      }
      const sent = Date.now();
      const answer = await this.attempt(target, request, kills);
      if (answer && answer.status < 500 && !isRunning(answer)) {
        if (answer.status < 300) {
          this.counts.succeeded += 1;
          this.lastSuccess = Math.max(this.lastSuccess, sent);
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

  private async attempt(target: Target, request: Request, kills: number): Promise<Answer | undefined> {
    const { method, path, body, headers } = request;
    try {
      const response = await fetch(target.url + path, {
        method,
        body,
        headers: { 'x-api-key': target.key, ...(body && { 'content-type': 'application/json' }), ...headers },
        signal: AbortSignal.timeout(LONGEST_MS),
      });
      const text = await response.text();
      const answer = { status: response.status, headers: response.headers, json: text && JSON.parse(text) };
      if (answer.status >= 500) this.judge(request, answer, text);
      return answer;
    } catch (error) {
      this.counts.unanswered += 1;
      if (kills === this.kills)
        this.note(request, `has no answer, though the service was not killed: ${String(error)}`);
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
    this.faults.push(`${method} ${path} ${what}`);
  }
}

function isRunning({ status, json }: Answer): boolean {
  return status === 409 && /still running/.test(json.detail);
}
