import type { Service } from './service';

export async function experiments(): Promise<Service> {
  const { evaluationEntities, EvaluationModule } = await import('@fairlead/evaluation');
  const { experimentsMigrations } = await import('@fairlead/experiments');
  return {
    migrations: experimentsMigrations,
    entities: evaluationEntities,
    module: ({ limits, publicUrl }) =>
      EvaluationModule.register(
        {
          maxBytes: limits.uploadMaxBytes,
          maxRowBytes: limits.uploadMaxRowBytes,
          maxDepth: limits.maxDepth,
          maxRuns: limits.maxRuns,
        },
        publicUrl,
      ),
  };
}
