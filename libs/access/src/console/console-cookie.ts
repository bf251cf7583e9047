import { Forbidden } from '@fairlead/schema';

/** The parts of a request that say where it comes from. */
interface Sender {
  readonly method: string;
  readonly host: string;
  readonly protocol: string;
  readonly headers: {
    readonly cookie?: string;
    readonly origin?: string;
    readonly 'sec-fetch-site'?: string | string[];
  };
}

const HOST_COOKIE = '__Host-fairlead';

/**
 * The name of the cookie of the console: over http it holds the port, because a browser sends the cookies of all ports of
 * a host. `https`: clients reach the service over https.
 */
function cookieName({ host, protocol }: Sender, https: boolean): string {
  if (https || protocol === 'https') return HOST_COOKIE;
  return `fairlead-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;
}

/** Returns the token in the session cookie of a request; undefined when it has none. */
export function tokenIn(request: Sender, https: boolean): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const start = `${cookieName(request, https)}=`;
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}

/** The header `Set-Cookie` that gives a browser a token, or takes it away when there is none. `seconds`: how long it is kept. */
export function setCookie(request: Sender, https: boolean, token: string | undefined, seconds: number): string {
  const name = cookieName(request, https);
  const secure = name === HOST_COOKIE ? '; Secure' : '';
  return `${name}=${token ?? ''}; Path=/; Max-Age=${token === undefined ? 0 : seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Refuses what another site's page makes a browser send: the request must say that it comes from a page of this origin. A
 * person may also open the address of a read directly.
 * @throws Forbidden
 */
export function requireSameOrigin({ method, headers, host }: Sender): void {
  const site = headers['sec-fetch-site'];
  const reads = method === 'GET' || method === 'HEAD';
  if (site === 'same-origin' || (site === 'none' && reads)) return;
  // Older browsers send no such header.
  if (site === undefined && headers.origin !== undefined && hostOf(headers.origin) === host) return;
  throw new Forbidden('A session of the console is for its own pages only: send the request with a key.');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
