import { experimentsMigrations, ExperimentsModule } from '@fairlead/experiments';
import type { Service } from './service';

export const experiments: Service = {
  migrations: experimentsMigrations,
  module: ({ limits, publicUrl }) =>
    ExperimentsModule.with(
      {
        maxBytes: limits.uploadMaxBytes,
        maxRowBytes: limits.uploadMaxRowBytes,
        maxDepth: limits.maxDepth,
        maxRuns: limits.maxRuns,
      },
      publicUrl,
    ),
};
