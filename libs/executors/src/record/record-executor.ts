import { Executor, type RolloutSteps } from '../port/executor';

/** Runs nothing: every revision is recorded as deployed. */
export class RecordExecutor extends Executor {
  readonly name = 'record';

  rollOut(): RolloutSteps {
    return { deploy: ({ log }) => log('INFO', 'Recorded as deployed, nothing is run (EXECUTOR=record).') };
  }

  async remove(): Promise<void> {}
}
