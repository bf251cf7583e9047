import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { EXIT, Failure, Interrupted } from '../failure';

interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Readable;
  /** Milliseconds without a byte in either direction after which it is given up. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** The head of the answer to one request, its body yet to be read. Rejects with the error of the connection. */
export function exchange({ url, method, headers, body, idleMs, signal }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, { method, headers, signal }, resolve);
    request.on('error', reject);
    request.setTimeout(idleMs, () => request.destroy(Object.assign(new Error('no answer'), { code: 'IDLE' })));
    if (typeof body !== 'object') {
      request.end(body);
      return;
    }
    // An early answer, as to a body that is too large, counts although the rest could not be sent.
    pipeline(body, request, (error) => {
      if (error) reject(error);
    });
  });
}

/** The body of an answer as text. */
export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Failure of a connection, with a sentence about its cause. */
export function transportFailure(error: unknown, base: string, idleMs: number): Failure {
  if (error instanceof Failure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const { host } = new URL(base);
  switch (code) {
    case 'ABORT_ERR':
      return new Interrupted();
    case 'IDLE':
      return new Failure(`${base} did not answer within ${idleMs / 1000} s; --timeout allows for more.`, EXIT.timeout);
    case 'ECONNREFUSED':
      return new Failure(
        `Nothing answers at ${base}: is the service running? "npm start" starts it; --url or FAIRLEAD_URL names another address.`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure(`The host of ${base} cannot be found (${code}).`);
    case 'EPROTO':
      return new Failure(`${host} does not speak TLS: does its address begin with http:// instead?`);
    case 'ECONNRESET':
    case 'EPIPE':
      return new Failure(`${base} cut the connection.`);
  }
  if (/CERT|SIGNATURE|TLS/.test(code ?? '')) {
    return new Failure(
      `The certificate of ${host} is not trusted (${code}): NODE_EXTRA_CA_CERTS names more authorities.`,
    );
  }
  if (code?.startsWith('HPE_')) return new Failure(`${base} does not answer as an HTTP service does.`);
  return new Failure(`The request to ${base} failed: ${code ?? message}.`);
}
