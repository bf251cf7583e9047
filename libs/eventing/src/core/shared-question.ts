/**
 * One question for all who wait at the same time. A question that has begun is never joined: its answer may miss what
 * the later caller has written. So at most one runs and one waits, however many callers there are; answers are not kept.
 */
export class SharedQuestion<T> {
  private running: Promise<unknown> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly question: () => Promise<T>) {}

  /** The answer to a question that begins after this call. */
  ask(): Promise<T> {
    if (this.next) return this.next;
    if (!this.running) return this.begin();
    const begin = () => this.begin();
    return (this.next = this.running.then(begin, begin));
  }

  private begin(): Promise<T> {
    this.next = undefined;
    const running = this.question();
    this.running = running;
    const ended = () => {
      if (this.running === running) this.running = undefined;
    };
    running.then(ended, ended);
    return running;
  }
}
