import { minuteOf, type RequestCounts } from '@fairlead/contracts';
import { PeriodicWork, Recent } from '@fairlead/schema';
import { Executor, type ProcessHealth } from '@fairlead/executors';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { MetricsStore } from './metrics.store';
import { rowsOf, type Sample } from './sample';

const LOOK_MS = 15_000;
const SWEEP_MS = 600_000;
/** Deployments of a workspace that are measured at a time; of further ones nothing is measured. */
const MOST_OF_TENANT = 100;
const MOST_REMEMBERED = 10_000;
const LOST = 'Measurements of deployments are lost';

/** Measures deployments: those that run here, and those of which the executor tells what they use. */
@Injectable()
export class MetricsWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Deployments');
  private readonly measuring = new PeriodicWork(
    () => this.measure(),
    (error) => this.logger.error(`${LOST}: ${String(error)}`),
  );
  private readonly sweeping = new PeriodicWork(
    () => this.metrics.sweep(),
    (error) => this.logger.error(error),
  );
  /** Samples since the last look. */
  private seen: Sample[] = [];
  /** Restarts of the programs of a deployment up to the last look. */
  private readonly restarts = new Recent<{ readonly total: number }>(MOST_REMEMBERED);

  constructor(
    private readonly metrics: MetricsStore,
    private readonly executor: Executor,
  ) {}

  onApplicationBootstrap(): void {
    this.measuring.start(LOOK_MS);
    this.sweeping.start(SWEEP_MS);
    void this.sweeping.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.measuring.stop(), this.sweeping.stop()]);
    await this.measuring.run();
  }

  /** Takes the processes of a deployment that others run; their requests are not measured. */
  saw(deployment: { readonly tenantId: string; readonly id: string }, processes: readonly ProcessHealth[]): void {
    const { tenantId, id: deploymentId } = deployment;
    const memory = processes.flatMap(({ memory_bytes }) => memory_bytes ?? []);
    const total = processes.reduce((sum, { restarts }) => sum + restarts, 0);
    const memoryBytes = memory.length === 0 ? null : memory.reduce((sum, bytes) => sum + bytes, 0);
    const restarts = this.restartsOf(deploymentId, total, null);
    this.seen.push({ tenantId, deploymentId, at: Date.now(), counts: null, memoryBytes, restarts });
  }

  /** Stores what was measured since the last look. */
  async measure(): Promise<void> {
    const samples = [...this.seen, ...this.ownPrograms()];
    this.seen = [];
    const counted = new Map<string, Set<string>>();
    const few = samples.filter(({ tenantId, deploymentId }) => {
      const ofTenant = counted.get(tenantId) ?? new Set();
      counted.set(tenantId, ofTenant);
      if (ofTenant.size < MOST_OF_TENANT) ofTenant.add(deploymentId);
      return ofTenant.has(deploymentId);
    });
    await this.metrics.add(rowsOf(few));
  }

  /** Samples of the programs that run here since the last look, also where nobody sent a request. */
  private ownPrograms(): Sample[] {
    const measured = this.executor.measure?.();
    if (!measured) return [];
    const { requests, uses } = measured;
    return uses.flatMap(({ deployment_id: deploymentId, tenant_id: tenantId, memory_bytes, restarts }) => {
      const now = Date.now();
      const none: RequestCounts = { requests: 0, errors: 0, latency: [] };
      const told = { tenantId, deploymentId, memoryBytes: null, restarts: null };
      const counted = [...(requests.get(deploymentId) ?? [])].map(([at, counts]) => ({ ...told, at, counts }));
      const used = { memoryBytes: memory_bytes, restarts: this.restartsOf(deploymentId, restarts, 0) };
      return [{ ...told, ...used, at: minuteOf(now), counts: none }, ...counted];
    });
  }

  /** Restarts since the look before; `first` when there was none. What was counted anew counts from its beginning. */
  private restartsOf(deploymentId: string, total: number, first: number | null): number | null {
    const before = this.restarts.get(deploymentId)?.total ?? first;
    this.restarts.set(deploymentId, { total });
    if (before === null) return null;
    return total < before ? total : total - before;
  }
}
