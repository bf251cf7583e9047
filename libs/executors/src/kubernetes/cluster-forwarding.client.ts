import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { BadRequest, isObject, Unavailable } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf, reachedAt, responseHeaders, type Through } from '../local/forwarding/app-headers.client';
import { forward } from '../local/forwarding/app-requests.client';
import { AppSockets } from '../local/forwarding/app-sockets.client';

/** Headers that the API of a cluster adds to the responses of programs. */
const OF_CLUSTER = /^(?:audit-id$|x-kubernetes-pf-)/;
/** Longest answer of a cluster that says why it passes a request on to no program (bytes). */
const LONGEST_REFUSAL = 8192;
const REFUSED =
  'The deployment does not answer: the cluster does not pass requests on to it. Its operator finds why in docs/guides/kubernetes.md.';
const ENTERED = { port: 0, end: () => undefined, outlive: () => () => undefined };

/** Passes requests on to programs of a cluster, and their responses and WebSockets back. */
export class ClusterForwarding {
  private readonly sockets = new AppSockets();

  /** @throws BadRequest for a path that could lead out of the program, before a connection is opened */
  check({ url }: FastifyRequest): void {
    const [path = ''] = pathOf(url).split('?');
    if (/(?:^|[/\\])\.\.?(?:[/\\]|$)/.test(decoded(path))) throw new BadRequest('The path has a segment . or ..');
  }

  /** @throws Unavailable, TooManyRequests */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    through: Through,
    { id, tenantId }: { readonly id: string; readonly tenantId: string },
  ): Promise<void> {
    const { socket: to, path } = through;
    if (reply.raw.destroyed) return void to.destroy();
    const reached = reachedAt(request, 'api', undefined);
    const { upgrade } = request.raw as IncomingMessage & { upgrade?: boolean };
    const answer = await (upgrade
      ? this.sockets.join(request, reply, { entered: ENTERED, to, id, tenantId, kind: 'api', reached, through })
      : forward(request, reply, to, 'api', reached, through));
    if (!answer) return;
    const { headers } = answer;
    const said = isShortError(answer) ? await textOf(answer) : undefined;
    if (said !== undefined && isRefusal(said)) throw new Unavailable(1, REFUSED);
    for (const name of Object.keys(headers)) if (OF_CLUSTER.test(name)) delete headers[name];
    if (headers.location !== undefined) headers.location = withinProgram(headers.location, path);
    await reply
      .status(answer.statusCode ?? 502)
      .headers(responseHeaders(answer, 'api', reached))
      .send(said ?? answer);
  }
}

/** True for an answer that may be the cluster's own, and is short enough to be read as a whole. */
function isShortError({ statusCode = 502, headers }: IncomingMessage): boolean {
  const isRefused = statusCode === 401 || statusCode === 403 || statusCode >= 500;
  const isJson = headers['content-type']?.startsWith('application/json') && !headers['content-encoding'];
  return Boolean(isRefused && isJson && Number(headers['content-length'] ?? Infinity) <= LONGEST_REFUSAL);
}

/** True for an error of the cluster itself. Its text names accounts, namespaces and pods, which clients must not see. */
function isRefusal(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value.kind === 'Status' && value.apiVersion === 'v1' && value.status === 'Failure';
  } catch {
    return false;
  }
}

/** A redirect as the program sent it: the cluster puts its own address and path in front. */
function withinProgram(location: string, path: string): string {
  const own = location.replace(/^https?:\/\/[^/?#]*/i, '');
  return own.startsWith(`${path}/`) ? own.slice(path.length) : location;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new BadRequest('The path is not encoded as UTF-8.');
  }
}
