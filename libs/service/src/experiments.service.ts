import type { Service } from './service';

export async function experiments(): Promise<Service> {
  const { experimentsEntities, experimentsMigrations, ExperimentsModule } = await import('@fairlead/experiments');
  return {
    migrations: experimentsMigrations,
    entities: experimentsEntities,
    module: ({ limits, publicUrl }) =>
      ExperimentsModule.register(
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
