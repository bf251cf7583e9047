/** Codes of sockets and of name resolution; `ENOENT` is a socket of a local server that is not there. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
]);
/** SQLSTATEs of a broken connection and of a server that starts, stops or has too many connections. */
const SQLSTATES = /^(?:08|57P0|53300)/;
/** Messages of the client for PostgreSQL, whose errors have no code. */
const MESSAGES =
  /connection terminated|timeout expired|timeout exceeded|connection timeout|not queryable|server closed|cannot use a pool after calling end|client has encountered a connection error/i;

/**
 * Returns the SQLSTATE of a PostgreSQL error or the code of a socket error, also of an error that wraps it; an empty
 * text when there is none.
 */
export function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  const { code, driverError } = Object(error) as { code?: unknown; driverError?: unknown };
  if (driverError !== undefined) return errorCode(driverError);
  return typeof code === 'string' ? code : '';
}

/** Returns whether an error means that the database is away, is starting or stopping, or has too many connections. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== '') return SOCKET_CODES.has(code) || SQLSTATES.test(code);
  return error instanceof Error && MESSAGES.test(error.message);
}
