import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { holdsKey } from '@fairlead/api';
import type { FastifyRequest } from 'fastify';

type Headers = Record<string, string | string[]>;

/** Address of a program: a path of this server for clients with a key, or a host of its own for browsers. */
export type Kind = 'api' | 'pages';

/** The address at which a client reaches a program, and the addresses of the client and of the proxies in front. */
export interface Reached {
  readonly proto: string;
  /** Empty when the request names none. */
  readonly host: string;
  /** The path below which the program is; empty at a host of its own. */
  readonly prefix: string;
  /** The address of the client, then those of the proxies, separated by commas. */
  readonly for: string;
}

/** A connection for one request to something that passes it on, and what leads the request to its program there. */
export interface Through {
  readonly socket: Socket;
  /** The path in front of that of the request. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding'],
  'upgrade',
]);
/** Headers in which proxies say where a request comes from and what it asked for: clients can write anything there. */
const SAID_BY_PROXIES = new Set([
  ...['forwarded', 'x-forwarded', 'forwarded-for', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip'],
  ...['cf-connecting-ip', 'fastly-client-ip', 'x-envoy-external-address', 'x-remote-ip', 'x-remote-addr'],
  ...['x-original-url', 'x-rewrite-url', 'x-original-host', 'x-host', 'x-http-host-override', 'x-scheme'],
  ...['x-url-scheme', 'front-end-https', 'x-script-name', 'script-name', 'x-original-forwarded-for'],
]);
/**
 * Headers of responses by which a program would change what browsers do with the whole address of the server, or what a
 * proxy in front of it reads from its own disk.
 */
const OURS_TO_SAY = new Set([
  ...['set-cookie', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'nel', 'report-to', 'accept-ch'],
  ...['service-worker-allowed', 'critical-ch', 'public-key-pins', 'expect-ct', 'origin-agent-cluster', 'set-login'],
  ...['use-as-dictionary', 'activate-storage-access', 'speculation-rules', 'reporting-endpoints'],
  ...['x-permitted-cross-domain-policies'],
  ...['x-accel-redirect', 'x-accel-expires', 'x-sendfile', 'x-lighttpd-send-file', 'x-reproxy-url', 'x-reproxy-file'],
]);
/**
 * Cookies of the console and of browsers that may see pages, whatever the port. Browsers send a cookie without a name as
 * its value, so that `=name=value` is one of them.
 */
const OUR_COOKIE = /^[\s=]*(?:__Host-fairlead|fairlead-(?:app-)?\d+)\s*=/i;
/** Pages of a program get an origin of their own, so that they cannot use the console's session. */
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads';

/** Headers that the API of a cluster reads (who a client is, or as whom it acts), or that services tell each other. */
const FOR_CLUSTERS = /^(?:authorization$|impersonate-|x-remote-|x-fairlead-)/;

/**
 * The path of a request as its program sees it, behind the one that leads `through` to that. A program that knows its prefix names it in links at its own host, too,
 * where it is not part of the path.
 */
export function pathOf(url: string, { path: before = '' }: Partial<Through> = {}): string {
  const path = url.replace(/^\/(?:apps\/[^/?#]*|app-pages\/([^/?#]*)(?:\/apps\/\1(?=[/?#]|$))?)/, '');
  return before + (path.startsWith('/') ? path : `/${path}`);
}

/**
 * Returns where a client reaches a program. What a trusted proxy says counts, and else the setting PUBLIC_URL, before
 * what the request itself says.
 */
export function reachedAt(request: FastifyRequest, kind: Kind, publicUrl: string | undefined): Reached {
  const { ip, ips = [ip], headers, url } = request;
  const isProxied = ips.length > 1;
  const known = isProxied || publicUrl === undefined ? undefined : new URL(publicUrl);
  const proxied = isProxied ? [headers['x-forwarded-prefix'] ?? []].flat().at(-1) : known?.pathname;
  const below = kind === 'api' ? (/^\/apps\/[^/?#]*/.exec(url)?.[0] ?? '') : '';
  return {
    proto: known?.protocol.slice(0, -1) ?? request.protocol,
    host: known?.host ?? request.host,
    prefix: `${proxied?.startsWith('/') ? proxied.replace(/\/$/, '') : ''}${below}`,
    for: ips.toReversed().join(', '),
  };
}

/**
 * The headers of a request without a key of this server, without the console's cookie, and with the truth about where
 * it comes from, and with those that lead it `through` to its program.
 */
export function requestHeaders({ headers }: IncomingMessage, kind: Kind, reached: Reached, through?: Through): Headers {
  const isKey = (name: string, value: string | string[] | undefined) =>
    (kind === 'api' && name === (headers['x-api-key'] ? 'x-api-key' : 'authorization')) ||
    ((name === 'x-api-key' || name === 'authorization') && holdsKey(String(value)));
  const kept = passedOn(headers).filter(
    ([name, value]) =>
      !isKey(name, value) &&
      !(through && FOR_CLUSTERS.test(name)) &&
      name !== 'cookie' &&
      !SAID_BY_PROXIES.has(name) &&
      !name.startsWith('x-forwarded-'),
  );
  const cookies = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const cookie = cookies.filter((pair) => pair !== '' && !OUR_COOKIE.test(pair)).join('; ');
  // Without it the body of a GET or DELETE would follow the headers unframed, where the next request is expected.
  const framed = headers['transfer-encoding'] ? [['transfer-encoding', 'chunked']] : [];
  return {
    ...(Object.fromEntries([...kept, ...framed, ...(cookie ? [['cookie', cookie]] : [])]) as Headers),
    'x-forwarded-for': reached.for,
    'x-forwarded-proto': reached.proto,
    ...(reached.host && { 'x-forwarded-host': reached.host }),
    ...(reached.prefix && { 'x-forwarded-prefix': reached.prefix }),
    ...through?.headers,
  };
}

/**
 * The headers of a response, in which a program neither sets our cookie nor gets the origin of the console. Its cookies
 * and its redirects stay below the path at which it is reached.
 */
export function responseHeaders({ headers, statusCode = 0 }: IncomingMessage, kind: Kind, reached: Reached): Headers {
  const kept = passedOn(headers).filter(([name]) => !OURS_TO_SAY.has(name));
  const cookies = (headers['set-cookie'] ?? []).filter((cookie) => !OUR_COOKIE.test(cookie));
  const own = [headers['content-security-policy'] ?? []].flat();
  const { location } = headers;
  return {
    ...(Object.fromEntries(kept) as Headers),
    // Clients of LangGraph take the path of other responses as one below their address.
    ...(location && statusCode >= 300 && statusCode < 400 && { location: locationBelow(location, reached) }),
    ...(cookies.length > 0 && { 'set-cookie': cookies.map((cookie) => cookieBelow(cookie, reached)) }),
    ...(kind === 'api' && { 'content-security-policy': own.length > 0 ? [SANDBOX, ...own] : SANDBOX }),
  };
}

function locationBelow(location: string, { proto, host, prefix }: Reached): string {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#]*)?(\/(?!\/).*)?$/is.exec(location) ?? [];
  const isHere = origin === '' ? path !== '' : origin.toLowerCase() === `${proto}://${host}`.toLowerCase();
  return isHere && !isBelow(path, prefix) ? `${origin}${prefix}${path || '/'}` : location;
}

function cookieBelow(cookie: string, { prefix }: Reached): string {
  const [pair, ...attributes] = cookie.split(';');
  const kept = attributes.filter((one) => !/^\s*(?:domain|path)\s*(?:=|$)/i.test(one));
  // The last attribute of a name counts.
  const path = attributes.flatMap((one) => /^\s*path\s*=\s*(\/.*?)\s*$/i.exec(one)?.[1] ?? []).at(-1);
  const below = path === undefined || path === '/' ? prefix : isBelow(path, prefix) ? path : prefix + path;
  return [pair, ...kept, ...(below || path ? [` Path=${below || '/'}`] : [])].join(';');
}

function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length));
}

/** The headers that do not hold for one connection only. The length of a body stays, whatever they say of it. */
function passedOn(headers: IncomingHttpHeaders): [string, string | string[] | undefined][] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  named.delete('content-length');
  return Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name));
}
