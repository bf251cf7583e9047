export { experimentsEntities, experimentsMigrations, experimentsReadModel } from './domain';
export { ExperimentsModule } from './experiments.module';
export { experimentsView, type Handler } from './experiments.projection';
export { session } from './sessions/sessions.answers.schema';
export { listSessions } from './sessions/sessions.queries';
