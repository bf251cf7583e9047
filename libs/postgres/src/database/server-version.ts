import { DatabaseProblem } from './problem';

const OLDEST = 16;

/** @throws DatabaseProblem when a server that calls its version so is too old for our statements. */
export function requireVersion(version: string): void {
  if (Number.parseInt(version, 10) >= OLDEST) return;
  throw new DatabaseProblem(`This is PostgreSQL ${version}: Fairlead needs ${OLDEST} or newer, and is tested with 18.`);
}
