import { types } from 'node:util';
import { HttpProblem } from '@fairlead/schema';
import type { PoolClient } from 'pg';
import { unreachable } from './unreachable';

/**
 * The cause of a follower's failure: `event` when the data of an event cannot be applied; `surroundings` when something
 * that every event needs is missing or broken; `slow` when a statement took too long, which may be the fault of the
 * event or of the database; `unknown` when the error does not say.
 */
export type Fault = 'event' | 'surroundings' | 'slow' | 'unknown';

/** An event refers to something that does not exist any more. */
export class Inapplicable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Inapplicable';
  }
}

/** Something that a follower needs is unavailable. No event is at fault, however often this is thrown. */
export class Away extends HttpProblem {
  constructor(message: string, options?: ErrorOptions) {
    super(503, message, { ...options, headers: { 'retry-after': '5' } });
  }
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Classes of SQLSTATEs that an event causes: cardinality, data, integrity constraints, limits of the program. */
const OF_EVENT = /^(?:21|22|23|54)/;
/**
 * Classes of SQLSTATEs that the server causes: a broken or refused connection, a lost transaction, missing tables and
 * rights, no room, a server that stops or cannot read its disk.
 */
const OF_SERVER = /^(?:08|25|26|28|3D|3F|40|42|53|55|57|58|F0)/;
/**
 * SQLSTATEs that do not say whose fault it is: a transaction with an earlier error that the handler caught, and memory,
 * which one event may exhaust.
 */
const UNTOLD: ReadonlySet<string> = new Set(['25P02', '53200']);
/** Names of errors that data cause. They are compared by name, because an error may come from another realm. */
const OF_DATA = new Set([
  ...['TypeError', 'RangeError', 'SyntaxError', 'ZodError', 'URIError'],
  ...['StreamDeleted', 'Inapplicable'],
]);
const OF_SURROUNDINGS = new Set(['AbortError', 'TimeoutError']);

export function faultOf(error: unknown): Fault {
  if (!isError(error)) return 'unknown';
  if (error instanceof Away) return 'surroundings';
  if ((error as { code?: unknown }).code === '57014') return 'slow';
  if (unreachable(error) || unreachable(error.cause) || OF_SURROUNDINGS.has(error.name)) return 'surroundings';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && SQLSTATE.test(code)) {
    if (OF_EVENT.test(code)) return 'event';
    return OF_SERVER.test(code) && !UNTOLD.has(code) ? 'surroundings' : 'unknown';
  }
  if (OF_DATA.has(error.name)) return 'event';
  // They have numbers as codes, as errors of gRPC have.
  if (error instanceof DOMException) return 'event';
  // Codes of the operating system (ENOSPC) and of gRPC (14).
  if (typeof code === 'number' || (typeof code === 'string' && /^E[A-Z]+$/.test(code))) return 'surroundings';
  return 'unknown';
}

/** Returns whether a value is an error, also one of another realm with other constructors. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error) || error instanceof DOMException;
}

const QUICK_MS = 1000;

/**
 * Returns whether the database answers a trivial query at once. Then a statement that took too long was slow by itself.
 */
export async function answersQuickly(tx: PoolClient): Promise<boolean> {
  const started = performance.now();
  await tx.query('select 1');
  return performance.now() - started < QUICK_MS;
}
