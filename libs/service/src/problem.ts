import { MasterKeyProblem, OlderLog } from '@fairlead/eventing';
import { DatabaseProblem } from '@fairlead/postgres';
import { EventStoreProblem } from './event-store/open-event-store';

/** The service cannot start. The message is one line for the operator that says what to do. */
export class StartProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartProblem';
  }
}

/**
 * Returns the line for the operator when a start failed for a reason outside the program; undefined for defects of the
 * program.
 */
export function operatorLine(error: unknown): string | undefined {
  const known = [StartProblem, DatabaseProblem, EventStoreProblem, OlderLog, MasterKeyProblem];
  return known.some((problem) => error instanceof problem) ? (error as Error).message : undefined;
}

/** Returns the problem of a file in the data directory that cannot be written; undefined for other errors. */
export function writeProblem(error: unknown, dataDir: string): StartProblem | undefined {
  const { code = '', path } = Object(error) as NodeJS.ErrnoException;
  if (typeof path !== 'string' || !path.startsWith(dataDir)) return undefined;
  const reason = {
    EROFS: 'its file system is mounted read-only',
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    ENOSPC: 'its disk is full',
    EDQUOT: 'its disk is full',
  }[code];
  if (reason === undefined) return undefined;
  const message = `The file ${path} cannot be written: ${reason}. Mend that or set FAIRLEAD_DATA_DIR.`;
  return new StartProblem(message, { cause: error });
}

/** Returns the problem of a failed attempt to listen; undefined for other errors. */
export function listenProblem(error: unknown, host: string, port: number): StartProblem | undefined {
  const reason = {
    EADDRINUSE: `Port ${port} of ${host} is taken by another program: stop that one or set PORT to another port.`,
    EACCES: `Port ${port} may not be used by this user: set PORT to one above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set HOST to 127.0.0.1 or another of its addresses.`,
    ENOTFOUND: `${host} is not a known host name: set HOST to 127.0.0.1 or another address of this machine.`,
  }[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined ? undefined : new StartProblem(reason, { cause: error });
}
