import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { newDeployment } from '@fairlead/e2e/testing';
import { upload } from './bodies';

const CLIENTS = 4;
const PAUSE_MS = 150;
const PATIENCE_MS = 120_000;

/** Results of the requests of a workspace that does its ordinary work. */
interface WorkFigures {
  succeeded: number;
  /** By status, or `no answer`. */
  readonly failed: Record<string, number>;
  /** Milliseconds of each request that succeeded. */
  readonly durations: number[];
}

/** A workspace at work: a few clients that create, change, list and read deployments, and upload and read experiments. */
export class Worker {
  readonly figures: WorkFigures = { succeeded: 0, failed: {}, durations: [] };
  private readonly ending = new AbortController();
  private readonly clients: Promise<void>[] = [];

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  start(): void {
    for (let client = 0; client < CLIENTS; client++) this.clients.push(this.work());
  }

  /** Resolves when the last request has been answered. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.clients);
  }

  /** The duration that all but a hundredth of the successful requests kept, in milliseconds. */
  p99(): number {
    const sorted = [...this.figures.durations].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)] ?? Infinity;
  }

  private async work(): Promise<void> {
    let id = await this.create();
    for (let turn = 0; !this.ending.signal.aborted; turn++) {
      if (turn % 50 === 49) id = await this.create();
      await this.send('PATCH', `/v2/deployments/${id}`, { source_config: { resource_spec: { cpu: 1 + (turn % 3) } } });
      await this.send('GET', '/v2/deployments?limit=20');
      await this.send('GET', `/v2/deployments/${id}`);
      if (turn % 5 === 0) await this.send('POST', '/api/v1/datasets/upload-experiment', upload(20, 100));
      await this.send('GET', '/api/v1/sessions?limit=10');
    }
  }

  private async create(): Promise<string> {
    const body = newDeployment(randomUUID());
    const answer = (await this.send('POST', '/v2/deployments', body)) as { id?: string } | undefined;
    return answer?.id ?? randomUUID();
  }

  private async send(method: string, path: string, body?: object | string): Promise<unknown> {
    await delay(PAUSE_MS);
    const { figures } = this;
    const begun = performance.now();
    try {
      const answer = await fetch(this.url + path, {
        method,
        headers: { 'x-api-key': this.key, 'content-type': 'application/json' },
        body: typeof body === 'object' ? JSON.stringify(body) : body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const value: unknown = await answer.json();
      if (answer.ok) {
        figures.succeeded++;
        figures.durations.push(performance.now() - begun);
      } else figures.failed[answer.status] = (figures.failed[answer.status] ?? 0) + 1;
      return value;
    } catch {
      figures.failed['no answer'] = (figures.failed['no answer'] ?? 0) + 1;
      return undefined;
    }
  }
}
