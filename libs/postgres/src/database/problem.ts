/** A database that cannot be used. The message is one line: what is wrong and what to do about it. */
export class DatabaseProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
    this.name = 'DatabaseProblem';
  }
}

const SOCKET_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'];
const CLIENT_MESSAGES = /Connection terminated|timeout expired|timeout exceeded when trying to connect|not queryable/;

/** Returns the SQLSTATE of a PostgreSQL error or the code of a socket error; an empty text when there is none. */
export function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** Returns whether an error means that the server is away, is starting or stopping, or has too many connections. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== '') return SOCKET_CODES.includes(code) || /^(08|57P0|53300)/.test(code);
  return error instanceof Error && CLIENT_MESSAGES.test(error.message);
}
