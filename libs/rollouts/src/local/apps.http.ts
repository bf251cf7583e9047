import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Unavailable } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Headers = Record<string, string | string[]>;

/** How a program is reached: at a path of this server by clients with a key, or at a host of its own by browsers. */
export type Kind = 'api' | 'pages';

/** Headers that hold for one connection only. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding'],
  'upgrade',
]);
/** What a program may not say for the whole address of the server. */
const OURS_TO_SAY = new Set([
  ...['set-cookie', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'nel', 'report-to', 'accept-ch'],
]);
/**
 * Cookies of the console and of browsers that may see pages, whatever the port. Browsers send a cookie without a name as
 * its value, so that `=name=value` is one of them.
 */
const OUR_COOKIE = /^[\s=]*(?:__Host-fairlead|fairlead-(?:app-)?\d+)\s*=/i;
/** Pages of a program get an origin of their own, so that they cannot use the console's session. */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads';

/** A connection to a port of this machine; undefined when nothing takes it, so that nothing was sent. */
export function connectTo(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

/**
 * Sends a request on through a connection of its own, until its client is gone: a program may close one that is kept at the
 * moment at which it is used again. Answers the response, whose body has yet to be read. @throws Unavailable
 */
export function forward(
  { raw, method, url }: FastifyRequest,
  { raw: back }: FastifyReply,
  socket: Socket,
  kind: Kind = 'api',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      ...{ createConnection: () => socket, method, headers: requestHeaders(raw, kind) },
      path: pathOf(url),
    });
    outgoing.on('response', (answer) => settle(answer, resolve, reject));
    outgoing.on('upgrade', (answer) => settle(answer, resolve, reject));
    outgoing.on('error', () => reject(new Unavailable(1, 'The deployment closed the connection.')));
    back.once('close', () => outgoing.destroy());
    raw.pipe(outgoing);
  });
}

/**
 * Resolves with the response of a program. Rejects with Unavailable for a status that no response to this request can
 * have, which clients could take for the end of HTTP on their connection.
 */
export function settle<T extends IncomingMessage>(
  answer: T,
  resolve: (answer: T) => void,
  reject: (error: Error) => void,
): void {
  const { statusCode = 0 } = answer;
  if (statusCode >= 200 && statusCode <= 599) return resolve(answer);
  answer.socket.destroy();
  reject(new Unavailable(1, `The deployment answered with the status ${statusCode}.`));
}

/** The path of a request as its program sees it. */
export function pathOf(url: string): string {
  const path = url.replace(/^\/(?:apps|app-pages)\/[^/?#]*/, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** The headers of a request without the one that held the key, and without the console's cookie. */
export function requestHeaders({ headers }: IncomingMessage, kind: Kind): Headers {
  const ours = kind === 'pages' ? undefined : headers['x-api-key'] ? 'x-api-key' : 'authorization';
  const kept = passedOn(headers).filter(([name]) => name !== ours && name !== 'cookie');
  const cookies = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const cookie = cookies.filter((pair) => pair !== '' && !OUR_COOKIE.test(pair)).join('; ');
  // Without it the body of a GET or DELETE would follow the headers unframed, where the next request is expected.
  const framed = headers['transfer-encoding'] ? [['transfer-encoding', 'chunked']] : [];
  return Object.fromEntries([...kept, ...framed, ...(cookie ? [['cookie', cookie]] : [])]) as Headers;
}

/** The headers of a response, in which a program neither sets our cookie nor gets the origin of the console. */
export function responseHeaders({ headers }: IncomingMessage, kind: Kind): Headers {
  const kept = passedOn(headers).filter(([name]) => !OURS_TO_SAY.has(name));
  const cookies = (headers['set-cookie'] ?? []).filter((cookie) => !OUR_COOKIE.test(cookie));
  const own = [headers['content-security-policy'] ?? []].flat();
  return {
    ...(Object.fromEntries(kept) as Headers),
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
    ...(kind === 'api' && { 'content-security-policy': own.length > 0 ? [SANDBOX, ...own] : SANDBOX }),
  };
}

/** The headers that do not hold for one connection only. The length of a body stays, whatever they say of it. */
function passedOn(headers: IncomingHttpHeaders): [string, string | string[] | undefined][] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  named.delete('content-length');
  return Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name));
}
