import { takesCoding } from '@fairlead/api';
import type { Pages } from '@fairlead/edge';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleFile, ConsoleFiles } from './console-files';

/**
 * Content security policy of the console: it loads its own files, calls its own server, and evaluates no text as code.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const ID = '[^/]+';
/** Addresses of the console itself. */
const OWN = new RegExp(`^/(?:$|login$|o(?:/|$))`);
/** Addresses that SDKs and command lines print without a workspace; each leads to the same address below `/o/-`. */
const PRINTED = new RegExp(
  `^/(?:datasets/${ID}(?:/compare|/e/${ID})?|projects/p/${ID}(?:/r/${ID})?|host/deployments(?:/${ID})?)$`,
);
/** Addresses of what is shared, which are read without signing in. */
const SHARED = new RegExp(`^/public/${ID}/(?:[dr]|compare|shared-run)$`);
/** Addresses that clients print and that Fairlead does not offer; a page says so. */
const NOT_OFFERED = /^\/(?:hub|prompts|context)(?:\/.*)?$/;

/** Path that the command line puts before the addresses of pages. */
const PREFIX = '/api-host/';

/** Returns a function that answers browsers that ask for a page or a file of the console, and no other requests. */
export function consolePages(files: ConsoleFiles): Pages {
  return (request) => {
    const { method, headers, originalUrl } = request;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    const [path = '/', ...search] = pathOf(originalUrl).split(/(?=\?)/);
    const routed = request.routeOptions.config.scope !== undefined;
    if (PRINTED.test(path)) {
      // Below some of these addresses the API answers programs, which do not say that they show a document.
      const wanted = routed ? headers['sec-fetch-dest'] === 'document' : asksForPage(request);
      return wanted ? (reply) => redirect(reply, `/o/-${path}${search.join('')}`) : undefined;
    }
    if (routed) return undefined;
    if (OWN.test(path) || SHARED.test(path) || NOT_OFFERED.test(path)) {
      if (!asksForPage(request)) return undefined;
      // The page knows its addresses without the prefix.
      return originalUrl.startsWith(PREFIX)
        ? (reply) => redirect(reply, path + search.join(''))
        : (reply) => send(request, reply, files.get('/index.html')!, PAGE_HEADERS);
    }
    const file = path === '/index.html' ? undefined : files.get(path);
    return file && ((reply) => send(request, reply, file, {}));
  };
}

/** Returns the path and query of a request, without the prefix that a command line puts before pages. */
function pathOf(url: string): string {
  const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/]*/i, '');
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length - 1) : path;
}

function asksForPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

function redirect(reply: FastifyReply, to: string): void {
  void reply.header('vary', 'Sec-Fetch-Dest').header('location', to).code(302).send();
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { plain, coded }: ConsoleFile,
  headers: Readonly<Record<string, string>>,
): void {
  const accepted = request.headers['accept-encoding'];
  const chosen = coded.find(({ coding }) => takesCoding(accepted, coding));
  void reply.headers({ ...headers, vary: 'Accept-Encoding' });
  if (chosen) void reply.header('content-encoding', chosen.coding);
  void reply.send((chosen?.asset ?? plain).answer(reply));
}
