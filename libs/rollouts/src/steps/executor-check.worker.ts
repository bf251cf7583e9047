import { Degradation } from '@fairlead/eventing';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { Executor } from '@fairlead/executors';

/** Interval between checks of a configuration (ms). */
const EVERY_MS = 60_000;

/** Says at start, and in readiness, that an executor cannot work as it is configured. */
@Injectable()
export class ExecutorCheck implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Rollouts');
  private readonly stopping = new AbortController();
  private checking: Promise<void> = Promise.resolve();

  constructor(
    private readonly executor: Executor,
    private readonly degradation: Degradation,
  ) {}

  onApplicationBootstrap(): void {
    if (this.executor.check) this.checking = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.checking;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    const part = `EXECUTOR=${this.executor.name}`;
    while (!signal.aborted) {
      const reason = await this.executor.check!(signal).catch((error: unknown) => String(error));
      if (signal.aborted) return;
      const without = reason?.replace(/\.$/, '');
      if (this.degradation.report(part, without)) {
        if (without === undefined) this.logger.log(`${part} works again.`);
        else this.logger.warn(`${part} does not work: ${without}.`);
      }
      await pause(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
