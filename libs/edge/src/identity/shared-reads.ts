import { sharedReading } from '@fairlead/postgres';

interface Reading {
  readonly running: Promise<unknown>;
  next?: Promise<unknown>;
}

/**
 * Requests for the same thing that wait at the same time share one read. A read that has begun is never joined: it may
 * not see what was written before the later request was sent. So at most one read of a thing runs and one waits, however
 * many ask, and everybody sees what was written before they asked.
 */
export class SharedReads {
  private readonly readings = new Map<string, Reading>();

  /** What `read` gives, by a call of it that begins after this one. `key` names all that the result depends on. */
  run<T>(key: string, read: () => Promise<T>): Promise<T> {
    const reading = this.readings.get(key);
    if (!reading) return this.begin(key, read);
    const begin = () => this.begin(key, read);
    reading.next ??= reading.running.then(begin, begin);
    return reading.next as Promise<T>;
  }

  private begin<T>(key: string, read: () => Promise<T>): Promise<T> {
    const running = sharedReading(read);
    const reading: Reading = { running };
    this.readings.set(key, reading);
    const ended = () => {
      if (!reading.next) this.readings.delete(key);
    };
    running.then(ended, ended);
    return running;
  }
}
