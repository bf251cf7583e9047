import { setTimeout as delay } from 'node:timers/promises';
import { outsideRequest } from '@fairlead/postgres';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { AuthorizationStore } from './authorization.store';

const EVERY_MS = 250;

/** Answers the long polls of this process. While there are any, one query at a time asks for all of them. */
@Injectable()
export class AuthorizationWaits implements BeforeApplicationShutdown {
  private readonly waiting = new Map<string, Set<() => void>>();
  private looking = false;
  private stopped = false;

  constructor(private readonly authorizations: AuthorizationStore) {}

  beforeApplicationShutdown(): void {
    this.stopped = true;
    for (const id of this.waiting.keys()) this.wake(id);
  }

  /** Resolves when an authorisation has ended, `signal` aborts, or `ms` milliseconds have passed. */
  async ended(id: string, ms: number, signal: AbortSignal): Promise<void> {
    if (this.stopped || signal.aborted || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        const others = this.waiting.get(id);
        others?.delete(done);
        if (others?.size === 0) this.waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.waiting.set(id, (this.waiting.get(id) ?? new Set()).add(done));
      // Not as part of the request that happens to wait first: the others wait on when its client goes away.
      if (!this.looking) void outsideRequest(() => this.look());
    });
  }

  private async look(): Promise<void> {
    this.looking = true;
    while (this.waiting.size > 0) {
      // A database that cannot be asked right now is asked again.
      const ended = await this.authorizations.ended([...this.waiting.keys()]).catch(() => []);
      for (const id of ended) this.wake(id);
      if (this.waiting.size > 0) await delay(EVERY_MS);
    }
    this.looking = false;
  }

  private wake(id: string): void {
    for (const done of this.waiting.get(id) ?? []) done();
  }
}
