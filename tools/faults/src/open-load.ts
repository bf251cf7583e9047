import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface LoadOptions {
  readonly port: number;
  readonly key: string;
  /** Deployments to change, one after the other. */
  readonly ids: readonly string[];
  /** Requests a second, sent whether those before are answered or not; absent for clients who wait for their answers. */
  readonly rate?: number;
  /** Number of clients that wait for their answers. */
  readonly clients?: number;
  readonly ms: number;
}

export interface LoadFigures {
  readonly sent: number;
  /** From when they were written to when their answers were there, in milliseconds, sorted. */
  readonly succeeded: number[];
  /** Answered 429 or 503 with `Retry-After`. */
  readonly refused: number;
  /** Answered otherwise, by status. */
  readonly others: Record<string, number>;
  /** Whose connection ended without an answer. */
  readonly broken: number;
  /** Not sent, because so many were not answered yet. */
  readonly unsent: number;
}

const TICK_MS = 5;
const CONNECTIONS = 4000;
/** For the last answers. */
const REST_MS = 30_000;

/** Changes deployments over connections of its own, at a rate or as fast as answers come. */
export class OpenLoad {
  private readonly figures = {
    sent: 0,
    succeeded: [] as number[],
    refused: 0,
    others: {} as Record<string, number>,
    broken: 0,
    unsent: 0,
  };
  private readonly free: Lane[] = [];
  private readonly lanes = new Set<Lane>();
  private underWay = 0;

  constructor(private readonly options: LoadOptions) {}

  /** Resolves when everything sent has been answered. */
  async run(): Promise<LoadFigures> {
    const { rate, clients = 0, ms } = this.options;
    const start = Date.now();
    let due = 0;
    for (let now = start; now < start + ms; now = Date.now()) {
      if (rate === undefined) while (this.underWay < clients) this.send();
      else for (; due < ((now - start) * rate) / 1000; due++) this.send();
      await (rate === undefined ? new Promise(setImmediate) : delay(TICK_MS));
    }
    for (const end = Date.now() + REST_MS; this.underWay > 0 && Date.now() < end;) await delay(TICK_MS);
    this.figures.broken += this.underWay;
    for (const lane of this.lanes) lane.socket.destroy();
    this.figures.succeeded.sort((a, b) => a - b);
    return this.figures;
  }

  private send(): void {
    const lane = this.free.pop() ?? this.open();
    const { figures } = this;
    if (!lane) {
      figures.unsent++;
      return;
    }
    this.underWay++;
    const sent = Date.now();
    lane.ask(this.request(figures.sent++), (answer) => {
      this.underWay--;
      if (!answer) figures.broken++;
      else if (answer.status === 200) figures.succeeded.push(Date.now() - sent);
      else if ((answer.status === 503 || answer.status === 429) && answer.retryAfter) figures.refused++;
      else figures.others[answer.status] = (figures.others[answer.status] ?? 0) + 1;
      if (answer?.keep) this.free.push(lane);
      else lane.socket.destroy();
    });
  }

  private request(number: number): string {
    const { ids, key } = this.options;
    const body = JSON.stringify({ source_config: { resource_spec: { cpu: 1 + (number % 3) } } });
    const head = [
      `PATCH /v2/deployments/${ids[number % ids.length]} HTTP/1.1`,
      'host: 127.0.0.1',
      `x-api-key: ${key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  }

  private open(): Lane | undefined {
    if (this.lanes.size >= CONNECTIONS) return undefined;
    const lane = new Lane(connect({ port: this.options.port, host: '127.0.0.1' }));
    this.lanes.add(lane);
    lane.socket.once('close', () => {
      this.lanes.delete(lane);
      const place = this.free.indexOf(lane);
      if (place >= 0) this.free.splice(place, 1);
    });
    return lane;
  }
}

type Head = { readonly status: number; readonly retryAfter: boolean; readonly keep: boolean };

/** One connection, with one request on it at a time. */
class Lane {
  private heard = '';
  private done: ((answer: Head | undefined) => void) | undefined;

  constructor(readonly socket: Socket) {
    socket.setNoDelay().setEncoding('latin1');
    socket.on('data', (text: string) => this.hear(text));
    socket.on('error', () => undefined);
    socket.on('close', () => this.end(undefined));
  }

  ask(request: string, done: (answer: Head | undefined) => void): void {
    this.done = done;
    this.socket.write(request);
  }

  private hear(text: string): void {
    this.heard += text;
    const end = this.heard.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.heard.slice(0, end).toLowerCase();
    const length = Number(/^content-length: (\d+)/m.exec(head)?.[1] ?? 0);
    if (this.heard.length < end + 4 + length) return;
    this.heard = '';
    this.end({
      status: Number(head.slice(9, 12)),
      retryAfter: head.includes('\nretry-after: '),
      keep: !head.includes('\nconnection: close'),
    });
  }

  private end(answer: Head | undefined): void {
    const { done } = this;
    this.done = undefined;
    done?.(answer);
  }
}
