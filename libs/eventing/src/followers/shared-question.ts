/**
 * Shares one asynchronous question among concurrent callers. A caller never joins a question that has begun, because
 * its answer may miss what the caller has just written. So at most one question runs and one waits, for any number of
 * callers. Answers are not kept.
 */
export class SharedQuestion<T> {
  private running: Promise<unknown> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly question: () => Promise<T>) {}

  /** Returns the answer to a question that begins after this call. */
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
