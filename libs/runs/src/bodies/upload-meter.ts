import type { ExperimentLimits } from './experiment-limits';
import { LimitExceeded } from './upload.errors';

/** Output below this is never taken for a decompression bomb. */
const FREE_BYTES = 1024 * 1024;

export class Meter {
  written = 0;
  private read = 0;

  constructor(private readonly limits: Pick<ExperimentLimits, 'maxBytes' | 'maxRatio'>) {}

  took(bytes: number): void {
    this.read += bytes;
  }

  wrote(bytes: number): void {
    this.written += bytes;
    const { maxBytes, maxRatio } = this.limits;
    if (this.written > maxBytes) throw new LimitExceeded('body bytes', maxBytes);
    if (this.read > 0 && this.written > FREE_BYTES && this.written > this.read * maxRatio) {
      throw new LimitExceeded('decompression ratio', maxRatio);
    }
  }
}
