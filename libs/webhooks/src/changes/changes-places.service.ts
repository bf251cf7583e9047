import { TooManyRequests } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';

const MOST = { key: 100, workspace: 200, all: 1000 };
const RETRY_S = 5;

/** Counts the requests of this process that wait for changes. */
@Injectable()
export class ChangesPlaces {
  private readonly taken = new Map<string, number>();

  /**
   * Takes a place for a key of a workspace; the function that is given back gives it back.
   * @throws TooManyRequests when the key, its workspace, or all together have as many as they may.
   */
  take(keyId: string, workspace: string): () => void {
    const names = [`key ${keyId}`, `workspace ${workspace}`, 'all'] as const;
    const most = [MOST.key, MOST.workspace, MOST.all] as const;
    if (names.some((name, index) => this.countOf(name) >= most[index]!)) {
      throw new TooManyRequests(RETRY_S, 'Too many requests wait for changes, try again later.');
    }
    for (const name of names) this.taken.set(name, this.countOf(name) + 1);
    return () => {
      for (const name of names) this.giveBack(name);
    };
  }

  private giveBack(name: string): void {
    const left = this.countOf(name) - 1;
    if (left > 0) this.taken.set(name, left);
    else this.taken.delete(name);
  }

  private countOf(name: string): number {
    return this.taken.get(name) ?? 0;
  }
}
