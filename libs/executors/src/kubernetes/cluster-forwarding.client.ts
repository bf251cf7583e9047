import type { IncomingMessage } from 'node:http';
import { BadRequest } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf, reachedAt, responseHeaders, type Through } from '../local/forwarding/app-headers.client';
import { forward } from '../local/forwarding/app-requests.client';
import { AppSockets } from '../local/forwarding/app-sockets.client';

/** Headers that the API of a cluster adds to the responses of programs. */
const OF_CLUSTER = /^(?:audit-id$|x-kubernetes-pf-)/;
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
    for (const name of Object.keys(headers)) if (OF_CLUSTER.test(name)) delete headers[name];
    if (headers.location !== undefined) headers.location = withinProgram(headers.location, path);
    await reply
      .status(answer.statusCode ?? 502)
      .headers(responseHeaders(answer, 'api', reached))
      .send(answer);
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
