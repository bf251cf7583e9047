import { EventStore, load, StoredBytes } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { datasetModel } from '../datasets/dataset';
import { datasetStream } from '../datasets/dataset-names';
import { experimentModel } from '../sessions/experiment';
import { experimentId } from '../ids';
import { PayloadStore } from './payload.store';
import { sessionStream } from '../sessions/session-names';

const HOUR = 60 * 60 * 1000;
/** An upload records what it has kept long before that. */
const SOON = 10 * 60 * 1000;
/** A workspace that stores too much is looked through again after so long. */
const MINUTE = 60 * 1000;

/**
 * Deletes payloads that no session and no dataset refers to an hour after they were written, and what came of those that were never
 * kept: at start and every hour. Those of a workspace that stores too much are deleted when it is refused, ten minutes
 * after they were written.
 */
@Injectable()
export class PayloadSweeper {
  private readonly logger = new Logger('PayloadSweeper');
  private readonly swept = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly payloads: PayloadStore,
    private readonly stored: StoredBytes,
  ) {}

  start(): void {
    this.stored.onFull((tenant) => this.sweepSoon(tenant));
    const run = () => {
      this.swept.clear();
      this.begin(HOUR);
    };
    run();
    this.timer = setInterval(run, HOUR).unref();
  }

  /** Sweeps one workspace, after what is swept at the moment, once a minute at most. */
  private sweepSoon(tenant: string): void {
    if ((this.swept.get(tenant) ?? 0) > Date.now() - MINUTE) return;
    this.swept.set(tenant, Date.now());
    this.begin(SOON, tenant);
  }

  private begin(age: number, tenant?: string): void {
    this.sweeping = this.sweeping
      .then(() => this.sweep(new Date(Date.now() - age), tenant))
      .catch((error: unknown) => this.logger.error(`Unused bodies could not be removed: ${String(error)}`));
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.sweeping;
  }

  /** Deletes the unreferenced payloads, of one workspace or of all, that were kept before `time`; answers how many. */
  async sweep(time: Date, only?: string): Promise<number> {
    if (only === undefined) await this.payloads.removeDrafts(time);
    let removed = 0;
    for (const { id, tenant, sha256 } of await this.payloads.unreferenced(time, only)) {
      if ((await this.isReferenced(tenant, sha256)) || (await this.isNeeded(tenant, sha256))) continue;
      await this.payloads.remove(id, time);
      removed++;
    }
    return removed;
  }

  /** Whether a session whose runs have it attached, or a dataset whose examples come from it, is there, as the log says. */
  private async isNeeded(tenant: string, sha256: string): Promise<boolean> {
    for (const session of await this.payloads.sessionsOf(tenant, sha256)) {
      if ((await load(this.store, experimentModel, sessionStream(session))).state.exists) return true;
    }
    for (const dataset of await this.payloads.datasetsOf(tenant, sha256)) {
      if ((await load(this.store, datasetModel, datasetStream(dataset))).state.exists) return true;
    }
    return false;
  }

  /** The log decides, not the read model: that may be behind. */
  private async isReferenced(tenant: string, sha256: string): Promise<boolean> {
    for (let generation = 0; ; generation++) {
      const { state } = await load(
        this.store,
        experimentModel,
        sessionStream(experimentId(tenant, sha256, generation)),
      );
      if (!state.deleted) return state.exists;
    }
  }
}
