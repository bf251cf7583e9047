import 'reflect-metadata';
import { type Edge, type Settings, startEdge } from '@fairlead/service';

export { type AdminKey, readSettings, type Settings, SettingsProblem } from '@fairlead/service';

export type Standalone = Edge;

/**
 * Starts every service in this process on an embedded PostgreSQL, or on the one in `databaseUrl`, and listens. When a
 * start fails, what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export function startStandalone(settings: Settings): Promise<Standalone> {
  return startEdge({ name: 'standalone', embedded: true, choosesExecutor: true }, settings);
}
