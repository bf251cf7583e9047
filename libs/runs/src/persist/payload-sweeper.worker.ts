import { PayloadStore } from '@fairlead/blobs';
import { EventStore, Followers, idOf, load, type Projection, type Recorded, StoredBytes } from '@fairlead/eventing';
import { PeriodicWork } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import { experimentModel, sessionStream } from '../session/experiment';
import { LIVE_RUNS } from '../common/experiments-view';
import { experimentId } from '../common/ids';
import { NamedDatasets } from './named-datasets';
import { RunBatches } from '../batch/run-batches.store';

const HOUR = 60 * 60 * 1000;
/** An upload records what it has kept long before that. */
const SOON = 10 * 60 * 1000;
/** A workspace that stores too much is looked through again after so long. */
const MINUTE = 60 * 1000;

/** Name of the follower that gives back what deleted uploads stored. */
export const DELETED_UPLOADS = 'deleted-uploads';

/**
 * Deletes payloads that no session and no dataset refers to an hour after they were written, and what came of those that were never
 * kept: at start and every hour. The body of a deleted upload goes at once, or ten minutes after it was written, because
 * until then the same body may be about to be recorded again. Those of a workspace that stores too much are deleted when it
 * is refused, ten minutes after they were written.
 */
@Injectable()
export class PayloadSweeper {
  private readonly logger = new Logger('PayloadSweeper');
  private readonly swept = new Map<string, number>();
  private readonly later = new Map<string, NodeJS.Timeout>();
  private readonly hourly = new PeriodicWork(
    () => {
      this.swept.clear();
      return this.begin(HOUR);
    },
    (error) => this.logger.error(error),
  );
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly payloads: PayloadStore,
    private readonly stored: StoredBytes,
    private readonly datasets: NamedDatasets,
    private readonly batches: RunBatches,
    private readonly followers: Followers,
  ) {}

  /** Gives back what deleted uploads stored; what was deleted while no process ran is swept at start. */
  readonly deletedUploads: Projection = {
    name: DELETED_UPLOADS,
    types: ['SessionDeleted'],
    optional: true,
    gatherMs: 200,
    holds: 1,
    handle: (events) => this.giveBack(events),
  };

  start(): void {
    this.stored.onFull((tenant) => this.sweepSoon(tenant));
    void this.hourly.run();
    this.hourly.start(HOUR);
  }

  /** Sweeps one workspace, after what is swept at the moment, once a minute at most. */
  private sweepSoon(tenant: string): void {
    if ((this.swept.get(tenant) ?? 0) > Date.now() - MINUTE) return;
    this.swept.set(tenant, Date.now());
    void this.begin(SOON, tenant);
  }

  private begin(age: number, tenant?: string): Promise<void> {
    this.sweeping = this.sweeping
      .then(async () => void (await this.sweep(new Date(Date.now() - age), tenant)))
      .catch((error: unknown) => this.logger.error(`Unused bodies could not be removed: ${String(error)}`));
    return this.sweeping;
  }

  async stop(): Promise<void> {
    const ended = this.hourly.stop();
    for (const timer of this.later.values()) clearTimeout(timer);
    await Promise.all([ended, this.sweeping]);
  }

  private async giveBack(events: readonly Recorded[]): Promise<void> {
    const now = Date.now();
    for (const { stream, time, metadata } of events) {
      if (metadata.tenant) await this.batches.forget(metadata.tenant, idOf(stream));
      if (Date.parse(time) < now - HOUR) continue;
      const { state } = await load(this.store, experimentModel, stream);
      if (!state?.upload) continue;
      for (const { sha256 } of [state.upload, ...(state.fills ?? [])])
        await this.giveBackOne(state.tenant_id, sha256, now);
    }
  }

  private async giveBackOne(tenant: string, sha256: string, now: number): Promise<void> {
    const found = await this.payloads.find(tenant, sha256);
    if (!found || (await this.isReferenced(tenant, sha256)) || (await this.isNeeded(tenant, sha256))) return;
    await this.payloads.remove(tenant, found.id, new Date(now - SOON));
    if (found.kept.getTime() >= now - SOON) this.sweepLater(tenant);
  }

  private sweepLater(tenant: string): void {
    if (this.later.has(tenant)) return;
    const sweep = () => {
      this.later.delete(tenant);
      void this.begin(SOON, tenant);
    };
    this.later.set(tenant, setTimeout(sweep, SOON + MINUTE).unref());
  }

  /** Deletes the unreferenced payloads, of one workspace or of all, that were kept before `time`; answers how many. */
  async sweep(time: Date, only?: string): Promise<number> {
    if (only === undefined) {
      await this.payloads.removeDrafts(time);
      await this.sweepBatches();
    }
    let removed = 0;
    for (const { id, tenant, sha256 } of await this.payloads.unreferenced(time, only)) {
      if ((await this.isReferenced(tenant, sha256)) || (await this.isNeeded(tenant, sha256))) continue;
      await this.payloads.remove(tenant, id, time);
      removed++;
    }
    return removed;
  }

  /** Deletes runs that were kept and of which no event came. Their follower must have stored all others. */
  private async sweepBatches(): Promise<void> {
    const now = Date.now();
    if (await this.followers.passed(await this.store.head(), [LIVE_RUNS])) await this.batches.sweep(LIVE_RUNS, now);
  }

  /** True when the log still has a session whose runs have it attached, or a dataset whose examples come from it. */
  private async isNeeded(tenant: string, sha256: string): Promise<boolean> {
    for (const session of await this.payloads.sessionsOf(tenant, sha256)) {
      if ((await load(this.store, experimentModel, sessionStream(session))).state?.removed === false) return true;
    }
    for (const dataset of await this.payloads.datasetsOf(tenant, sha256)) {
      if (await this.datasets.isThere(dataset)) return true;
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
      if (!state?.removed) return state !== null;
    }
  }
}
