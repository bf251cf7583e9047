import type { IncomingMessage } from 'node:http';
import { Failure, Refusal } from '../failure';
import { problemLines } from './problems';

/** The same answer when it can be one of Fairlead's. @throws Failure */
export function accepted(message: IncomingMessage, base: string): IncomingMessage {
  const type = message.headers['content-type'];
  if (message.statusCode === 204 || /json|csv|markdown/.test(type ?? '')) return message;
  message.destroy();
  throw new Failure(`${base} answered with ${type ?? 'nothing'}: is that the address of Fairlead?`);
}

/** Failure for an answer of 300 or more. */
export function refusal(message: IncomingMessage, text: string, base: string): Failure {
  const { statusCode: status = 0, statusMessage, headers } = message;
  if (status < 400) {
    return new Failure(`${base} redirects to ${headers.location ?? 'another address'}: give that one with --url.`);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Not ours, as that of a proxy.
  }
  const lines = problemLines(answer);
  if (!lines) return new Refusal(status, undefined, `${base} answered ${status} ${statusMessage ?? ''}.`);
  const unlisted = Number(headers['x-error-count'] ?? 0) - lines.length;
  if (unlisted > 0) lines.push(`… and ${unlisted} more.`);
  if (status === 412) lines[0] = 'It has changed: this is not its edition any more. Read it again first.';
  if (status === 401) lines[0] = `The key is not accepted: ${lines[0]}.`;
  const scope = /scope="([\w:]+)"/.exec(headers['www-authenticate'] ?? '')?.[1];
  if (status === 403 && scope !== undefined) lines[0] = `The key lacks the scope ${scope}.`;
  const { error, detail } = answer as { error?: unknown; detail: unknown };
  if (error === 'org_scoped_key_requires_workspace') lines[0] = 'The key needs --workspace or FAIRLEAD_WORKSPACE.';
  return new Refusal(status, detail, lines.join('\n'));
}
