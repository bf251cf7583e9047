import type { MessagePort } from 'node:worker_threads';
import { BadRequest } from '@fairlead/schema';
import { Decompress } from 'fzstd';
import type { ExperimentLimits } from '../limits';
import { LimitExceeded, type LimitName } from './upload.errors';
import { Meter } from './upload-meter';
import { ZstdFraming } from './zstd-framing';

/** Decodes the slices of a body one after the other, on this thread or on another. */
export interface ZstdDecoder {
  /** What comes out of a slice. @throws BadRequest, LimitExceeded */
  push(slice: Buffer, last: boolean): Promise<Buffer[]>;
  close(): void;
}

type Limits = Pick<ExperimentLimits, 'maxBytes' | 'maxRatio'>;
type Request = { readonly slice: Uint8Array; readonly last: boolean };
type Reply =
  | { readonly parts: Uint8Array[] }
  | { readonly limit: LimitName; readonly allowed: number }
  | { readonly problem: string };

/** Decodes on this thread. */
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

  push(slice: Buffer, last: boolean): Promise<Buffer[]> {
    return new Promise((resolve) => resolve(this.decode(slice, last)));
  }

  close(): void {}

  private decode(slice: Buffer, last: boolean): Buffer[] {
    this.parts = [];
    this.meter.took(slice.length);
    this.framing.take(slice, this.meter.written);
    try {
      this.decoder.push(slice, last);
    } catch (error) {
      if (error instanceof LimitExceeded) throw error;
      throw new BadRequest('The body is not valid zstd data.');
    }
    return this.parts;
  }
}

/** Decodes one body on this thread for the other end of a port. */
export function serveZstd(port: MessagePort, limits: Limits): void {
  const decoder = new LocalDecoder(limits);
  port.on('message', ({ slice, last }: Request) => {
    decoder.push(Buffer.from(slice.buffer, slice.byteOffset, slice.byteLength), last).then(
      (parts) => port.postMessage({ parts } satisfies Reply),
      (error: unknown) => port.postMessage(told(error)),
    );
  });
}

function told(error: unknown): Reply {
  if (error instanceof LimitExceeded) return { limit: error.limit, allowed: error.allowed };
  return { problem: (error as Error).message };
}

/** Has another thread decode. */
export class RemoteDecoder implements ZstdDecoder {
  private settle?: { readonly resolve: (parts: Buffer[]) => void; readonly reject: (error: Error) => void };
  private ended = false;

  constructor(private readonly port: MessagePort) {
    port.on('message', (reply: Reply) => this.received(reply));
    port.on('close', () => {
      this.ended = true;
      this.settle?.reject(new Error('The thread that decodes uploads has ended.'));
    });
  }

  push(slice: Buffer, last: boolean): Promise<Buffer[]> {
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
      settle?.resolve(reply.parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
    } else {
      settle?.reject('limit' in reply ? new LimitExceeded(reply.limit, reply.allowed) : new BadRequest(reply.problem));
    }
  }
}
