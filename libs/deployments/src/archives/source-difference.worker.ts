import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { UnreadableArchive } from './archive-files';
import { compareSources, type Comparison, type FileDifference, type SourceDifference } from './source-difference';

/** Content of a comparison whose archives are sent block by block. */
export type Job = Omit<Comparison, 'archives'>;
/** Message of the thread: it wants the next block of the archive that it reads, or has ended. */
export type Message =
  | 'next'
  | { readonly result: SourceDifference | FileDifference | null }
  | { readonly unreadable: string };

const port = parentPort!;

/** Blocks of the archive that is sent at present; `null` is its end. */
async function* blocks(): AsyncIterable<Uint8Array> {
  for (;;) {
    const sent = once(port, 'message') as Promise<[Uint8Array | null]>;
    port.postMessage('next' satisfies Message);
    const [block] = await sent;
    if (block === null) return;
    yield block;
  }
}

/** Any other failure ends the thread, which says so. */
void compareSources({ ...(workerData as Job), archives: [blocks(), blocks()] }).then(
  (result) => port.postMessage({ result } satisfies Message),
  (error: unknown) => {
    if (!(error instanceof UnreadableArchive)) throw error;
    port.postMessage({ unreadable: error.message } satisfies Message);
  },
);
