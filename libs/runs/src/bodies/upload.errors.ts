import { HttpProblem, PayloadTooLarge, Unavailable, Unprocessable } from '@fairlead/schema';

/** Time for which the same body counts as a retry (ms). */
export const REPLAY_MS = 24 * 60 * 60 * 1000;

export type LimitName = 'body bytes' | 'header bytes' | 'row bytes' | 'filled rows' | 'depth' | 'decompression ratio';

const TEXTS: Readonly<Record<LimitName, (allowed: number) => string>> = {
  'body bytes': (bytes) => `The body exceeds the limit of ${bytes} bytes (UPLOAD_MAX_BYTES).`,
  'header bytes': (bytes) => `The members other than results and scores exceed the limit of ${bytes} bytes together.`,
  'row bytes': (bytes) => `A row, or another value, exceeds the limit of ${bytes} bytes (UPLOAD_MAX_ROW_BYTES).`,
  'filled rows': (rows) => `A fill has at most ${rows} rows: send more in further fills.`,
  depth: (levels) => `The nesting exceeds the limit of ${levels} levels (MAX_DEPTH).`,
  'decompression ratio': (ratio) => `The body exceeds the limit of ${ratio} bytes for each compressed byte.`,
};

/** The body goes beyond a limit: 422 for the one on nesting, otherwise 413. */
export class LimitExceeded extends HttpProblem {
  constructor(
    readonly limit: LimitName,
    readonly allowed: number,
  ) {
    const sentence = TEXTS[limit](allowed);
    const answer = limit === 'depth' ? Unprocessable.at(['body'], sentence) : new PayloadTooLarge(sentence);
    super(answer.status, answer.detail, answer);
  }
}

/** Another session was created under the id of the upload meanwhile; sending it again gives it another id. */
export class IdTaken extends Unavailable {
  constructor() {
    super(1);
  }
}
