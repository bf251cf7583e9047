import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SourceArchives } from '@fairlead/contracts';
import {
  FairShare,
  GatewayTimeout,
  NoPlace,
  Recent,
  TooManyRequests,
  Unavailable,
  Unprocessable,
  weightOf,
  withTimeLimit,
} from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { UnreadableArchive } from './archive-files';
import { NoSource } from './source.errors';
import { compareSources, type FileDifference, type SourceDifference } from './source-difference';
import type { Job, Message } from './source-difference.worker';

const WORKER = join(__dirname, 'source-difference.worker.js');
/** Limits of a source that the command line packs. */
const LIMITS = { files: 20_000, bytes: 1024 ** 3 };
/** Longest time of one comparison (ms), and the memory of its thread. */
const COMPARE_MS = 60_000;
const THREAD_MEGABYTES = 256;
const TOO_LARGE = 'The archives of the revisions are too large to be compared.';
/** Differences that are kept for the next page of files: their number, and their bytes together. */
const [KEPT, KEPT_BYTES] = [20, 32 * 1024 * 1024];

/** The archive of a revision. */
export interface RevisionSource {
  readonly revisionId: string;
  readonly path: string | undefined;
}

/** Two revisions of a deployment, the earlier one first. */
export interface ComparedSources {
  readonly tenantId: string;
  readonly deploymentId: string;
  readonly revisions: readonly [RevisionSource, RevisionSource];
}

/**
 * Compares uploaded sources, each comparison in a thread of its own, because unpacking takes seconds and archives may be
 * made to take all the memory there is. Two run at once, one for each workspace. Where the compiled worker is not beside
 * this file (sources run directly), they run on the calling thread.
 */
@Injectable()
export class SourceDifferences {
  private readonly compiled = existsSync(WORKER);
  private readonly turns = new FairShare(2, { perOwner: 1, waiting: 4 });
  /** By the paths of both archives, which name what never changes. */
  private readonly known = new Recent<SourceDifference>(KEPT, {
    bytes: KEPT_BYTES,
    of: weightOf,
  });

  constructor(private readonly archives: SourceArchives) {}

  /** Differences of all files. @throws NoSource, Unprocessable for archives that cannot be read as a whole */
  async list(compared: ComparedSources): Promise<SourceDifference> {
    const { revisions } = compared;
    if (revisions[0].path !== undefined && revisions[0].path === revisions[1].path)
      return { files: [], unchanged: null };
    const key = revisions.map(({ path }) => path).join('\n');
    const known = this.known.get(key);
    if (known) return known;
    const difference = (await this.compare(compared)) as SourceDifference;
    this.known.set(key, difference);
    return difference;
  }

  /** The difference of one file; null when it is the same in both, or in none. @throws as `list` */
  async find(compared: ComparedSources, path: string): Promise<FileDifference | null> {
    return (await this.compare(compared, path)) as FileDifference | null;
  }

  private async compare(compared: ComparedSources, path?: string) {
    const [from, to] = await this.open(compared);
    const revisionIds = [compared.revisions[0].revisionId, compared.revisions[1].revisionId] as const;
    const job: Job = { revisionIds, limits: LIMITS, path };
    const turn = this.turns.hold(compared.tenantId, { patience: COMPARE_MS }, () =>
      withTimeLimit(COMPARE_MS, [], (signal) =>
        this.compiled ? inThread(job, [from, to], signal) : compareSources({ ...job, archives: [from, to] }),
      ),
    );
    return turn.catch((error: unknown) => {
      if (error instanceof NoPlace)
        throw new TooManyRequests(1, 'Sources of this workspace are being compared already.');
      if (error instanceof UnreadableArchive) throw new Unprocessable(error.message);
      if (error instanceof Error && error.name === 'TimeoutError') throw new GatewayTimeout();
      throw error;
    });
  }

  private async open({ tenantId, deploymentId, revisions }: ComparedSources) {
    const opened: AsyncIterable<Buffer>[] = [];
    for (const { revisionId, path } of revisions) {
      const archive = path === undefined ? undefined : await this.archives.open(tenantId, deploymentId, path);
      if (!archive) throw new NoSource(revisionId);
      opened.push(archive);
    }
    return opened as [AsyncIterable<Buffer>, AsyncIterable<Buffer>];
  }
}

/** Sends the archives to a thread as fast as it reads them. The thread ends with the comparison, however that ends. */
async function inThread(job: Job, archives: readonly AsyncIterable<Buffer>[], signal: AbortSignal) {
  const worker = new Worker(WORKER, {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES },
  });
  const blocks = archives.map((archive) => archive[Symbol.asyncIterator]());
  let at = 0;
  const sendNext = async () => {
    const { value, done } = (await blocks[at]!.next()) as IteratorResult<Buffer, undefined>;
    if (done) at++;
    worker.postMessage(value ?? null);
  };
  try {
    return await new Promise<SourceDifference | FileDifference | null>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      worker.on('message', (message: Message) => {
        if (message === 'next') sendNext().catch(reject);
        else if ('result' in message) resolve(message.result);
        else reject(new UnreadableArchive(message.unreadable));
      });
      worker.on('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Unprocessable(TOO_LARGE) : error),
      );
      worker.on('exit', () => reject(new Unavailable()));
    });
  } finally {
    await worker.terminate();
    for (const one of blocks) await one.return?.();
  }
}
