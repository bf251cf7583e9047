/** SQLSTATEs of a server that is starting, stopping, gone or out of room; class 08 is a broken connection. */
const SQLSTATES = new Set(['57P01', '57P02', '57P03', '53300', '57014', '25P03', '25P04']);
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'ENOENT']);

/**
 * Returns whether an error means that the database could not be reached or ended the connection, so that a retry may
 * succeed.
 */
export function unreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && (SQLSTATES.has(code) || NETWORK.has(code) || code.startsWith('08'))) return true;
  return /connection terminated|timeout exceeded|connection timeout|query read timeout|not queryable|server closed/i.test(
    error.message,
  );
}
