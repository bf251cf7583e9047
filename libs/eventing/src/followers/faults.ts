import { types } from 'node:util';
import { HttpProblem } from '@fairlead/schema';
import type { PoolClient } from 'pg';
import { unreachable } from '../core/unreachable';

/**
 * What a follower's failure is to be blamed on: `event` when its data cannot be applied, `surroundings` when what is
 * needed to apply any event is away or not as it should be, `slow` when a statement took longer than it may, which is
 * the fault of the event or of the database, `unknown` when the error does not tell.
 */
export type Fault = 'event' | 'surroundings' | 'slow' | 'unknown';

/** An event refers to something that it needs and that is not there any more. */
export class Inapplicable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Inapplicable';
  }
}

/** What a follower needs is away: no event is at fault, however often this is thrown. */
export class Away extends HttpProblem {
  constructor(message: string, options?: ErrorOptions) {
    super(503, message, { ...options, headers: { 'retry-after': '5' } });
  }
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Cardinality, data, integrity constraints, limits of the program. */
const OF_EVENT = /^(?:21|22|23|54)/;
/**
 * A broken or refused connection, a transaction that lost against another, missing tables and rights, no room, a server
 * that stops or cannot read its disk.
 */
const OF_SERVER = /^(?:08|25|26|28|3D|3F|40|42|53|55|57|58|F0)/;
/** A transaction in which a statement failed that the handler kept to itself, and memory that one event may take. */
const UNTOLD: ReadonlySet<string> = new Set(['25P02', '53200']);
/** By name: an error may come from another realm. */
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

/** Also one of another realm, whose constructors are not those of this one. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error) || error instanceof DOMException;
}

const QUICK_MS = 1000;

/** Whether the database answers a trivial query at once, so that a statement that took too long was slow by itself. */
export async function answersQuickly(tx: PoolClient): Promise<boolean> {
  const started = performance.now();
  await tx.query('select 1');
  return performance.now() - started < QUICK_MS;
}
