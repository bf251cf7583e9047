import type { MessagePort } from 'node:worker_threads';
import { BadRequest } from '@fairlead/schema';
import { Decompress } from 'fzstd';
import type { ExperimentLimits } from './experiment-limits';
import { LimitExceeded, type LimitName } from './upload.errors';
import { Meter } from './upload-meter';
import { ZstdFraming } from './zstd-framing';

/** A part of a body: a few bytes can stand for many, so that not all bytes of a slice are always decoded. */
interface Decoded {
  readonly parts: readonly Buffer[];
  readonly used: number;
}

/** Bytes that are decoded before the output is looked at, and output after which the rest of a slice waits. */
const STEP_BYTES = 64;
const ENOUGH_BYTES = 1024 * 1024;

export interface ZstdDecoder {
  push(slice: Buffer, last: boolean): Promise<Decoded>;
  close(): void;
}

type Limits = Pick<ExperimentLimits, 'maxBytes' | 'maxRatio'>;
type Request = { readonly slice: Uint8Array; readonly last: boolean };
type Reply =
  | { readonly parts: readonly Uint8Array[]; readonly used: number }
  | { readonly limit: LimitName; readonly allowed: number }
  | { readonly problem: string };

export class LocalDecoder implements ZstdDecoder {
  private readonly meter: Meter;
  private readonly framing = new ZstdFraming();
  private readonly decoder: Decompress;
  private parts: Buffer[] = [];

  constructor(limits: Limits) {
    this.meter = new Meter(limits);
    this.decoder = new Decompress((data) => {
      if (data.length === 0) return;
      this.meter.wrote(data.length);
      this.parts.push(Buffer.from(data.buffer, data.byteOffset, data.length));
    });
  }

  push(slice: Buffer, last: boolean): Promise<Decoded> {
    return new Promise((resolve) => resolve(this.decode(slice, last)));
  }

  close(): void {}

  private decode(slice: Buffer, last: boolean): Decoded {
    this.parts = [];
    const before = this.meter.written;
    let used = 0;
    do {
      const step = slice.subarray(used, used + STEP_BYTES);
      used += step.length;
      this.meter.took(step.length);
      this.framing.take(step, this.meter.written);
      try {
        this.decoder.push(step, last && used === slice.length);
      } catch (error) {
        if (error instanceof LimitExceeded) throw error;
        throw new BadRequest('The body is not valid zstd data.');
      }
    } while (used < slice.length && this.meter.written - before < ENOUGH_BYTES);
    return { parts: this.parts, used };
  }
}

export function serveZstd(port: MessagePort, limits: Limits): void {
  const decoder = new LocalDecoder(limits);
  port.on('message', ({ slice, last }: Request) => {
    decoder.push(Buffer.from(slice.buffer, slice.byteOffset, slice.byteLength), last).then(
      (decoded) => port.postMessage(decoded satisfies Reply),
      (error: unknown) => port.postMessage(told(error)),
    );
  });
}

function told(error: unknown): Reply {
  if (error instanceof LimitExceeded) return { limit: error.limit, allowed: error.allowed };
  return { problem: (error as Error).message };
}

export class RemoteDecoder implements ZstdDecoder {
  private settle?: { readonly resolve: (decoded: Decoded) => void; readonly reject: (error: Error) => void };
  private ended = false;

  constructor(private readonly port: MessagePort) {
    port.on('message', (reply: Reply) => this.received(reply));
    port.on('close', () => {
      this.ended = true;
      this.settle?.reject(new Error('The thread that decodes uploads has ended.'));
    });
  }

  push(slice: Buffer, last: boolean): Promise<Decoded> {
    if (this.ended) return Promise.reject(new Error('The thread that decodes uploads has ended.'));
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.port.postMessage({ slice, last } satisfies Request);
    });
  }

  close(): void {
    this.port.close();
  }

  private received(reply: Reply): void {
    const { settle } = this;
    this.settle = undefined;
    if ('parts' in reply) {
      const parts = reply.parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      settle?.resolve({ parts, used: reply.used });
    } else {
      settle?.reject('limit' in reply ? new LimitExceeded(reply.limit, reply.allowed) : new BadRequest(reply.problem));
    }
  }
}
