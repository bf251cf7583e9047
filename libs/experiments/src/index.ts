export { ExperimentsModule } from './experiments.module';
export { ExperimentLimits } from './common/experiment-limits';
export { experimentsEntities, experimentsMigrations, experimentsReadModels } from './domain';
