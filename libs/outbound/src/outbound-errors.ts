import { BadRequest, NoPlace } from '@fairlead/schema';

/**
 * A URL may not be called (400). The message names the member that contains it, and never says what its host resolves
 * to.
 */
export class OutboundRefused extends BadRequest {
  constructor(
    member: string,
    readonly reason: string,
  ) {
    super(`${member} ${reason}.`);
  }
}

/** The kind of failure of a call; `busy`: the call was not made, because the workspace has too many. */
type OutboundFault = 'refused' | 'timeout' | 'unreachable' | 'too large' | 'busy';

/** A call to another server failed. The message is for logs and contains nothing that the server sent. */
export class OutboundFailure extends Error {
  override name = 'OutboundFailure';

  constructor(
    readonly fault: OutboundFault,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
  'ETIMEOUT',
]);

/** Returns the failure for an error of a call. An abort by the caller is returned as it is, unless it is a timeout. */
export function outboundFailure(error: unknown, host: string, signal: AbortSignal | null | undefined): unknown {
  const reason: unknown = signal?.reason;
  if (signal?.aborted && (reason as Error).name !== 'TimeoutError') return reason;
  if (signal?.aborted) return new OutboundFailure('timeout', `${host} took too long.`, error);
  const chain = causes(error);
  const known = chain.find((cause) => cause instanceof OutboundFailure);
  if (known) return known;
  if (chain.some((cause) => cause instanceof OutboundRefused)) {
    return new OutboundFailure('refused', `${host} may not be called.`, error);
  }
  if (chain.some((cause) => cause instanceof NoPlace)) {
    return new OutboundFailure(
      'busy',
      `${host} was not called: too many calls of this workspace are under way.`,
      error,
    );
  }
  const codes = chain.map(({ code }: Error & { code?: unknown }) => code);
  if (codes.some((code) => TIMEOUTS.has(String(code)))) {
    return new OutboundFailure('timeout', `${host} took too long.`, error);
  }
  return new OutboundFailure('unreachable', `${host} could not be reached.`, error);
}

function causes(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? (error.errors as unknown[]).flatMap(causes) : [];
  return [error, ...inner, ...causes(error.cause)];
}
