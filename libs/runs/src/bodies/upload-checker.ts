import { setImmediate } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { RING_BLOCKS } from '@fairlead/blobs';
import type { ExperimentLimits } from './experiment-limits';
import { UploadCheck, type Verdict } from './upload-check';

export interface UploadChecker {
  /** Takes a block of a ring; answers false when further ones are not needed. */
  push(block: Buffer): Promise<boolean>;
  finish(): Promise<Verdict>;
  /** Frees what the checker holds; safe at any time. */
  close(): void;
}

export class LocalChecker implements UploadChecker {
  private readonly check: UploadCheck;

  constructor(limits: ExperimentLimits, fills = false) {
    this.check = new UploadCheck(limits, fills);
  }

  async push(block: Buffer): Promise<boolean> {
    const more = this.check.push(block);
    await setImmediate();
    return more;
  }

  finish(): Promise<Verdict> {
    return Promise.resolve(this.check.finish());
  }

  close(): void {}
}

type Request = { readonly block: Uint8Array } | { readonly finish: true };
type Reply = { readonly more: boolean } | { readonly verdict: Verdict } | { readonly failure: Error };

/** Blocks that may be on their way to the other thread: one more is being filled, and one waits to be pushed. */
const MOST_UNDER_WAY = RING_BLOCKS - 2;

export function serveCheck(port: MessagePort, limits: ExperimentLimits, fills: boolean): void {
  const check = new UploadCheck(limits, fills);
  port.on('message', (request: Request) => {
    port.postMessage(answer(check, request));
  });
}

function answer(check: UploadCheck, request: Request): Reply {
  try {
    if ('finish' in request) return { verdict: check.finish() };
    const { block } = request;
    return { more: check.push(Buffer.from(block.buffer, block.byteOffset, block.byteLength)) };
  } catch (error) {
    return { failure: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Checks at the other end of a port, up to four blocks ahead of what has been checked. */
export class RemoteChecker implements UploadChecker {
  private underWay = 0;
  private more = true;
  private failure: Error | undefined;
  private verdict: Verdict | undefined;
  private wake: () => void = () => undefined;

  constructor(private readonly port: MessagePort) {
    port.on('message', (reply: Reply) => this.received(reply));
    port.on('close', () => this.fail(new Error('The thread that checks uploads has ended.')));
  }

  async push(block: Buffer): Promise<boolean> {
    await this.until(() => this.underWay < MOST_UNDER_WAY);
    if (this.more) this.send({ block });
    return this.more;
  }

  async finish(): Promise<Verdict> {
    this.send({ finish: true });
    await this.until(() => this.verdict !== undefined);
    return this.verdict!;
  }

  close(): void {
    this.port.close();
  }

  private send(request: Request): void {
    this.underWay++;
    this.port.postMessage(request);
  }

  private received(reply: Reply): void {
    this.underWay--;
    if ('failure' in reply) this.failure = reply.failure;
    else if ('verdict' in reply) this.verdict = reply.verdict;
    else this.more &&= reply.more;
    this.wake();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  private async until(done: () => boolean): Promise<void> {
    for (;;) {
      if (this.failure) throw this.failure;
      if (done()) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
