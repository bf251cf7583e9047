import { errorCode, isConnectionLost } from '@fairlead/schema';

/** SQLSTATEs of a statement or transaction that the server ended because it took too long. */
const TOO_SLOW: ReadonlySet<string> = new Set(['57014', '25P03', '25P04']);

/**
 * Returns whether an error means that the database could not be reached, ended the connection, or ended a statement that
 * took too long, so that a retry may succeed.
 */
export function unreachable(error: unknown): boolean {
  if (isConnectionLost(error) || TOO_SLOW.has(errorCode(error))) return true;
  return error instanceof Error && /query read timeout/i.test(error.message);
}
