import { guardedFetch, OutboundFailure } from '@fairlead/outbound';
import { Injectable } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import type { Due } from './webhook-delivery.store';
import { type Attempt, retryAfter } from './retry-schedule';
import { WebhookSecrets } from '../webhook/webhook-secrets.service';
import { withoutUrl } from '../webhook/masked-url';
import { slackMessage } from '../webhook/slack-message';
import { WebhooksOptions } from '../webhook/webhooks.options';

/** Number of bytes of an answer that the log stores. */
const KEPT = 1024;

/** Sends deliveries in the form of Standard Webhooks. */
@Injectable()
export class DeliveryAttempts {
  constructor(
    private readonly secrets: WebhookSecrets,
    private readonly options: WebhooksOptions,
  ) {}

  /**
   * Sends a delivery once, within the time limit, and returns the result. @throws the reason of `signal` when that
   * aborts, and errors of the vault
   */
  async make({ webhook, messageId, body: message }: Due, signal: AbortSignal): Promise<Attempt> {
    const { outbound, timeLimit, now } = this.options;
    const at = now();
    const body = webhook.format === 'slack' ? slackMessage(message) : message;
    const secrets = await this.secrets.open(webhook, at);
    const signatures = secrets.map((secret) => new Signer(secret).sign(messageId, new Date(at), body));
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Fairlead-Webhooks',
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': signatures.join(' '),
    };
    const begun = performance.now();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new DOMException('The time is over.', 'TimeoutError')), timeLimit);
    const breakOff = () => limit.abort(signal.reason);
    signal.addEventListener('abort', breakOff);
    try {
      signal.throwIfAborted();
      const init = { method: 'POST', headers, body, signal: limit.signal };
      const answer = await guardedFetch(webhook.url, init, outbound, webhook.tenant_id);
      const latency = performance.now() - begun;
      const { status } = answer;
      const response = await beginningOf(answer, webhook.url);
      const wait = retryAfter(answer.headers.get('retry-after'), now());
      return { at, latency, status, response, error: refusal(status), retryAfter: wait };
    } catch (error) {
      // A call that was not made is no attempt.
      const wasNotMade = error instanceof OutboundFailure && error.fault === 'busy';
      if (signal.aborted || wasNotMade) throw error;
      const sentence = error instanceof OutboundFailure ? error.message : 'The target could not be called.';
      const latency = performance.now() - begun;
      return { at, latency, status: null, response: null, error: sentence, retryAfter: 0 };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', breakOff);
    }
  }
}

function refusal(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const redirect = status >= 300 && status < 400;
  return `The target answered ${status}${redirect ? ', and redirects are not followed' : ''}.`;
}

/** Returns the first bytes of an answer as text that can be stored, without the address, which some targets repeat. */
async function beginningOf(answer: Response, url: string): Promise<string> {
  const reader = (answer.body as ReadableStream<Uint8Array> | null)?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // What is cut off at the end may be the beginning of an address, and is not kept.
  const wanted = KEPT + 4 * url.length;
  try {
    while (reader && size < wanted) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.byteLength;
    }
  } catch {
    // The status counts; an answer that breaks off is kept as far as it came.
  }
  reader?.cancel().catch(() => undefined);
  const read = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, wanted), { stream: size > wanted });
  const masked = withoutUrl(read, url);
  const bytes = Buffer.from(size >= wanted ? masked.slice(0, -url.length) : masked);
  const text = new TextDecoder().decode(bytes.subarray(0, KEPT), { stream: bytes.length > KEPT });
  return text.replaceAll('\0', '\ufffd');
}
