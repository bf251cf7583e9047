import { startUploading as startAlone } from '@fairlead/experiments/testing';
import { EvaluationModule } from '../evaluation.module';

export * from '@fairlead/experiments/testing';

/** Starts the service, with experiments below it, on a database of its own. */
export const startUploading = (limits?: Parameters<typeof startAlone>[0], storedBytes?: number) =>
  startAlone(limits, storedBytes, (given) => EvaluationModule.register(given));
