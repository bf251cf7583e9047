export { ExperimentsModule } from './experiments.module';
export { ExperimentLimits } from './limits';
export { experimentsEntities } from './entities';
export { experimentsMigrations } from './migrations';
export { experimentsReadModels } from './read-models';
