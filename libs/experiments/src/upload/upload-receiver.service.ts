import { createHash } from 'node:crypto';
import { BLOCK_BYTES, inRing, type PayloadDraft, PayloadStore } from '@fairlead/blobs';
import { Problems, Unprocessable } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import {
  type CheckedUpload,
  ExperimentLimits,
  LimitExceeded,
  LocalChecker,
  type UploadChecker,
  UploadThread,
  type Verdict,
} from '@fairlead/runs';

export interface Received {
  readonly upload: CheckedUpload;
  readonly sha256: string;
  readonly bytes: number;
  readonly draft: PayloadDraft;
}

/** Blocks held in memory before anything is written. */
const FIRST_BLOCKS = 2;

@Injectable()
export class UploadReceiver {
  constructor(
    private readonly payloads: PayloadStore,
    private readonly thread: UploadThread,
    private readonly limits: ExperimentLimits,
  ) {}

  /**
   * Receives a body (after decompression); `fills` is true when its rows are to fill an experiment. The caller keeps or
   * discards the draft; when this throws there is none.
   * @throws Unprocessable or LimitExceeded for a body that is not valid, and what the source throws.
   */
  async receive(tenant: string, body: AsyncIterable<Buffer>, fills = false): Promise<Received> {
    const blocks = inRing(body)[Symbol.asyncIterator]();
    const first = await take(blocks, FIRST_BLOCKS);
    const small = first.length === 1 && first[0]!.length < BLOCK_BYTES;
    const checker = small ? new LocalChecker(this.limits, fills) : this.thread.checker(fills);
    const draft = this.payloads.begin(tenant);
    try {
      return await this.pass(chain(first, blocks), checker, draft);
    } catch (error) {
      await draft.discard();
      throw error;
    } finally {
      checker.close();
    }
  }

  private async pass(blocks: AsyncIterable<Buffer>, checker: UploadChecker, draft: PayloadDraft): Promise<Received> {
    const hash = createHash('sha256');
    let bytes = 0;
    let hopeful = true;
    for await (const block of blocks) {
      // What follows a fault is read to its end all the same: many clients look for an answer only then.
      if (!hopeful) continue;
      hopeful = await checker.push(block);
      hash.update(block);
      bytes += block.length;
      await draft.write(block);
    }
    if (hopeful) draft.complete();
    const upload = accepted(await checker.finish());
    return { upload, sha256: hash.digest('hex'), bytes, draft };
  }
}

function accepted(verdict: Verdict): CheckedUpload {
  if (verdict.kind === 'valid') return verdict.upload;
  if (verdict.kind === 'limit') throw new LimitExceeded(verdict.limit, verdict.allowed);
  const problems = new Problems();
  for (const problem of verdict.problems) problems.add(problem);
  problems.total = verdict.total;
  throw new Unprocessable(problems);
}

async function take<T>(source: AsyncIterator<T>, most: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < most) {
    const next = await source.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

async function* chain<T>(first: readonly T[], rest: AsyncIterator<T>): AsyncIterable<T> {
  try {
    yield* first;
    for (;;) {
      const next = await rest.next();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
