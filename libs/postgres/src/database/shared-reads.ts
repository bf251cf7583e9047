import { sharedReading } from './reading';

interface Reading {
  readonly running: Promise<unknown>;
  next?: Promise<unknown>;
}

/**
 * Lets concurrent requests for the same thing share one read. A request never joins a read that has begun, because that
 * may miss what was written just before the request. So at most one read of a thing runs and one waits, for any number
 * of requests.
 */
export class SharedReads {
  private readonly readings = new Map<string, Reading>();

  /**
   * Returns the result of a call of `read` that begins after this one. `key` identifies everything that the result
   * depends on.
   */
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
