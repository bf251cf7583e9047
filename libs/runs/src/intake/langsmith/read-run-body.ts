import type { LargePart } from '@fairlead/blobs';
import { PayloadTooLarge } from '@fairlead/schema';
import { refusal } from '../../refused/refusal';
import { readBatch, readMultipart, readRun, said, type SentParts, tooLarge } from './live-runs-body';

/** Readers of the bytes of a body, by its kind; `argument` is the id in the path, or the content type. */
const READERS = {
  run: (body: Buffer, depth: number, id?: string, large: readonly LargePart[] = []): SentParts => {
    const nothing = { feedback: [], contents: new Map() };
    try {
      if (large[0]) throw tooLarge(large[0]);
      return { ...nothing, runs: [readRun(body, depth, id)], refused: [] };
    } catch (error) {
      const known = said(body);
      const refused = refusal({ ...known, kind: 'run', id: id ?? known.id, loc: ['body'] }, error);
      return { ...nothing, runs: [], refused: [refused] };
    }
  },
  batch: (body: Buffer, depth: number, _?: string, large: readonly LargePart[] = []) => readBatch(body, depth, large),
  multipart: (body: Buffer, depth: number, contentType = '', large: readonly LargePart[] = []) =>
    readMultipart(body, depth, contentType, large),
};

export type BodyKind = keyof typeof READERS;

export interface BodyToRead {
  readonly kind: BodyKind;
  readonly body: Uint8Array;
  readonly argument?: string;
  readonly large?: readonly LargePart[];
  readonly most: number;
  readonly depth: number;
}

/** Names of members that are not kept, of all runs and feedback of a body together. */
const MOST_IGNORED = 1000;

/** Content of a body. @throws PayloadTooLarge when that is too many, BadRequest, Unprocessable */
export function readRunBody({ kind, body, argument, large, most, depth }: BodyToRead): SentParts {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const { runs, feedback, contents, refused } = READERS[kind](bytes, depth, argument, large);
  const count =
    runs.length + feedback.length + refused.filter(({ kind }) => kind === 'run' || kind === 'feedback').length;
  if (count > most) {
    throw new PayloadTooLarge(`The request holds ${count} runs and feedback; at most ${most} are taken (RUNS_MAX).`);
  }
  let left = MOST_IGNORED;
  const named = (names: readonly string[]) => {
    const kept = names.slice(0, left);
    left -= kept.length;
    return kept;
  };
  return {
    runs: runs.map((run) => ({ ...run, ignored: named(run.ignored) })),
    feedback: feedback.map((one) => ({ ...one, ignored: named(one.ignored) })),
    contents,
    refused,
  };
}
