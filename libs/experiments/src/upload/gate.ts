import { FairShare, NoPlace, Unavailable } from '@fairlead/schema';

/** Seconds after which a client that was turned away may come again. */
const RETRY_AFTER = 2;

export class Gate {
  private readonly places: FairShare;

  constructor(
    most: number,
    /** Time for which the next one waits for a place (ms). */
    private readonly patience: number,
  ) {
    this.places = new FairShare(most);
  }

  /** Runs `work` when there is a place for the workspace. @throws Unavailable when none came free in time */
  async run<T>(workspace: string, work: () => Promise<T>): Promise<T> {
    const giveBack = await this.places.wait(workspace, { patience: this.patience }).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      throw new Unavailable(RETRY_AFTER, 'Too many uploads at a time, try again later.');
    });
    try {
      return await work();
    } finally {
      giveBack();
    }
  }
}
