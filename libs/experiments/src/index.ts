export { ExperimentsModule } from './experiments.module';
export { ExperimentLimits } from './common/experiment-limits';
export { experimentsEntities } from './entities';
export { experimentsMigrations } from './migrations';
export { experimentsReadModels } from './read-models';
