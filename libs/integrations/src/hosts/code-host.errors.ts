import { GatewayTimeout, HttpProblem, NotFound } from '@fairlead/schema';

/** The code host gave no usable answer. The message contains nothing that the host sent except its status. */
export class CodeHostFailed extends HttpProblem {
  constructor(
    detail: string,
    /** True when a retry may succeed: the host is down or limits requests. */
    readonly passing: boolean,
    /** Pause that the host asks for (s). */
    readonly retryAfter?: number,
  ) {
    super(502, detail, retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } });
  }
}

/** The code host took too long. */
export class CodeHostTooSlow extends GatewayTimeout {}

/** The code host has no such repository, branch, tag or commit that the integration can see. */
export class CommitNotFound extends NotFound {}

/** Returns false for something that the host does not have, and true for anything else that it answers. */
export async function found(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (error instanceof CommitNotFound) return false;
    throw error;
  }
}

/** Returns whether another attempt may succeed where a call failed. */
export function mayPass(error: unknown): boolean {
  if (error instanceof CodeHostFailed) return error.passing;
  return error instanceof CodeHostTooSlow || (error as Error).name === 'TimeoutError';
}

/** Returns the error for a refusal of the host, by its status. */
export function refusal(host: string, status: number): CodeHostFailed {
  const hint = status === 401 || status === 403 ? ': check the credentials of the integration' : '';
  return new CodeHostFailed(`${host} answered ${status}${hint}.`, false);
}

/** Returns the error for an answer that the provider does not document. */
export function unexpected(host: string): CodeHostFailed {
  return new CodeHostFailed(`${host} answered something unexpected: check base_url and provider.`, false);
}
