import { Executor, type RolloutSteps } from './executor';

/** Runs nothing: every revision is recorded as deployed. */
export class RecordExecutor extends Executor {
  async prepare(): Promise<void> {}

  rollOut(): RolloutSteps {
    return {
      deploy: ({ log }) => log('INFO', 'Recorded as deployed. This installation runs nothing (EXECUTOR=record).'),
      close: async () => undefined,
    };
  }

  async remove(): Promise<void> {}
}
