import type { StartedRevision } from '../isolation/app-folders.store';
import type { AppReplica } from './app-replica';
import type { Runnable } from './serving';

/** The time after a deployment in which what ran before can take its place back. */
export class Trial {
  readonly program: Runnable | undefined;
  /** Processes that served before, and run on for now; none where the machine has no room for them. */
  before: readonly AppReplica[];
  private readonly since = Date.now();
  private readonly timer: NodeJS.Timeout;

  /** Calls `over` after `most` milliseconds. */
  constructor(
    readonly fresh: StartedRevision,
    readonly previous: StartedRevision,
    { before, program }: Pick<Trial, 'before' | 'program'>,
    { most, over }: { readonly most: number; readonly over: () => void },
  ) {
    [this.before, this.program] = [before, program];
    this.timer = setTimeout(over, most).unref();
    for (const { running } of before) running?.disconnect();
  }

  get hasSpare(): boolean {
    const { before } = this;
    return before.length > 0 && before.every(({ running }) => running === undefined || running.busy === 0);
  }

  giveSpare(): readonly AppReplica[] {
    const { before } = this;
    this.before = [];
    return before;
  }

  end(): readonly AppReplica[] {
    clearTimeout(this.timer);
    return this.before;
  }

  /** Why the revision has lost its place: the end of its process, when that was, and its last line. */
  failure(sentence: string, lastLine: string): string {
    const seconds = Math.max(1, Math.round((Date.now() - this.since) / 1000));
    return `${sentence.slice(0, -1)} ${seconds} s after it was deployed${lastLine === '' ? '.' : `, last line: ${lastLine}`}`;
  }
}
