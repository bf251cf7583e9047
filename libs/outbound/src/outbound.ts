import { isIP, isIPv4 } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fetch as undiciFetch, type RequestInit as UndiciRequestInit } from 'undici';
import { OutboundFailure, outboundFailure, OutboundRefused } from './outbound-errors';
import { hostnameOf, type OutboundLimits, type OutboundPolicy } from './outbound-policy';
import { watchedCall } from './outbound-watch';
import { parseUrl } from '@fairlead/schema';

const LONGEST = 2048;
/** Names of this machine or of a private network, whatever they resolve to. */
const INTERNAL_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home\.arpa)$/;
const NO_BODY = new Set([101, 204, 205, 304]);

/** Limits of one answer. */
type BodyLimits = Pick<OutboundLimits, 'bytes' | 'whole'>;

/**
 * Checks the text of a URL that a tenant has set: https (http for hosts that the operator named), no credentials, no
 * fragment, a public host, and nothing that another parser could read as another host.
 * @param member the member that contains the URL, for the message.
 * @throws OutboundRefused
 */
export function checkUrl(text: string, policy: OutboundPolicy, member = 'url'): URL {
  const refuse = (reason: string) => new OutboundRefused(member, reason);
  if (text.length > LONGEST) throw refuse(`must not be longer than ${LONGEST} characters`);
  const [, authority] = /^https?:\/\/([^/?#\\\s]+)/i.exec(text) ?? [];
  // Spaces, control characters and backslashes are where parsers disagree.
  const url = parseUrl(text);
  if (authority === undefined || /[\s\\\p{Cc}\p{Cf}]/u.test(text) || !url) {
    throw refuse('must be an absolute https URL');
  }
  if (authority.includes('@') || url.username || url.password) throw refuse('must not hold credentials');
  if (text.includes('#')) throw refuse('must not hold a fragment');
  const hostname = hostnameOf(url);
  const named = policy.isNamed(url);
  if (url.protocol === 'http:' && !named && !policy.allowHttp) throw refuse('must be an https URL');
  if (isIPv4(hostname) && authority.replace(/:\d*$/, '') !== hostname) {
    throw refuse('must spell an IPv4 address as four decimal numbers');
  }
  if (named) return url;
  const internal = isIP(hostname) ? !policy.isAllowedAddress(hostname) : isInternalName(hostname);
  if (internal) throw refuse('names a host that may not be called');
  return url;
}

/**
 * As `checkUrl`, and also checks every current address of the host. A host that cannot be resolved at the moment
 * passes, because each call checks it again. @throws OutboundRefused
 */
export async function checkTarget(
  text: string,
  policy: OutboundPolicy,
  workspace: string,
  member = 'url',
): Promise<URL> {
  const url = checkUrl(text, policy, member);
  if (isIP(hostnameOf(url))) return url;
  const patience = pause(policy.limits.connect, undefined, { ref: false });
  try {
    await Promise.race([policy.addresses(url, workspace), patience]);
  } catch (error) {
    if (error instanceof OutboundRefused) throw new OutboundRefused(member, 'names a host that may not be called');
  }
  return url;
}

/**
 * `fetch` for URLs of tenants. The URL is checked as by `checkUrl`, connections go only to allowed addresses, and
 * redirects are not followed (the answer is the 3xx itself). Timeouts and the size limit are those of the policy, except
 * what `own` names. The call holds a place of its workspace until the body of the answer has ended.
 * @throws OutboundFailure, also while the body is read; the reason of the caller's abort when it aborts.
 */
export async function guardedFetch(
  input: string | URL,
  init: RequestInit | undefined,
  policy: OutboundPolicy,
  workspace: string,
  own: Partial<BodyLimits> = {},
): Promise<Response> {
  let url: URL;
  try {
    url = checkUrl(String(input), policy);
  } catch (error) {
    throw new OutboundFailure('refused', (error as Error).message, error);
  }
  const limits = { ...policy.limits, ...own };
  return watchedCall(init?.method ?? 'GET', url, async () => {
    let leave: (() => void) | undefined;
    try {
      const place = await policy.enter(workspace, init?.signal);
      ({ leave } = place);
      const { dispatcher } = place;
      return await call(url, { ...(init as UndiciRequestInit), redirect: 'manual', dispatcher }, limits, leave);
    } catch (error) {
      leave?.();
      throw outboundFailure(error, url.host, init?.signal);
    }
  });
}

async function call(url: URL, init: UndiciRequestInit, limits: BodyLimits, leave: () => void): Promise<Response> {
  const answer = await undiciFetch(url, init);
  const { status, statusText } = answer;
  const headers = new Headers([...answer.headers]);
  const source = answer.body as ReadableStream<Uint8Array> | null;
  if (Number(headers.get('content-length') ?? 0) > limits.bytes) {
    await source?.cancel();
    throw tooLarge(url, limits);
  }
  const body = source && !NO_BODY.has(status) ? limited(source, url, limits, leave, init.signal) : null;
  if (!body) leave();
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url.href });
}

function isInternalName(hostname: string): boolean {
  return !hostname.includes('.') || INTERNAL_NAME.test(hostname);
}

/**
 * Returns the same bytes up to the limit. Failures of the connection become OutboundFailure. `ended` is called at the
 * end.
 */
function limited(
  source: ReadableStream<Uint8Array>,
  url: URL,
  limits: BodyLimits,
  ended: () => void,
  signal?: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    clearTimeout(timer);
    ended();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const giveUp = () => {
        ended();
        controller.error(new OutboundFailure('timeout', `${url.host} took too long.`));
        void reader.cancel().catch(() => undefined);
      };
      timer = setTimeout(giveUp, limits.whole).unref();
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        size += value?.byteLength ?? 0;
        if (!done && size <= limits.bytes) return controller.enqueue(value);
        end();
        if (done) return controller.close();
        await reader.cancel();
        controller.error(tooLarge(url, limits));
      } catch (error) {
        end();
        controller.error(outboundFailure(error, url.host, signal));
      }
    },
    cancel: (reason) => {
      end();
      return reader.cancel(reason);
    },
  });
}

function tooLarge({ host }: URL, { bytes }: BodyLimits): OutboundFailure {
  return new OutboundFailure('too large', `The answer of ${host} is larger than ${bytes} bytes.`);
}
