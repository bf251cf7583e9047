import { Area, Scope } from '@fairlead/api';
import { appOfHost } from '@fairlead/contracts';
import { Forbidden, NotFound, Unauthorized } from '@fairlead/schema';
import { Controller } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppForwarding, Passes } from './app-forwarding.service';
import { VISIT_MS } from '../app-visitors';
import { LocalApps } from '../local-apps';

const PATHS = ['app-pages/:app', 'app-pages/:app/*'];
const LINK = /^\/\?fairlead-code=([\w-]+)$/;

const NO_VISITOR = 'A browser sees these pages after it has opened a link of POST /v2/deployments/{id}/browser-links.';

/** The pages of deployments for browsers, each at an origin of its own: http://<name>.localhost. */
@Area('Deployments')
@Controller()
@Passes(PATHS, Scope('public', { stream: true, load: 'wait' }))
export class AppPagesController {
  constructor(
    private readonly apps: LocalApps,
    private readonly forwarding: AppForwarding,
  ) {}

  async pass(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { app } = request.params as { app: string };
    if (appOfHost(request.headers.host) !== app) throw new NotFound();
    const found = this.apps.kept.named(app);
    const cookie = found && this.cookieFor(found.id, request);
    if (cookie) return reply.status(303).headers({ 'set-cookie': cookie, location: '/' }).send();
    if (!found || !this.apps.visitors.knows(found.id, tokenIn(request))) throw new Unauthorized(NO_VISITOR);
    requireOwnPage(request);
    return this.forwarding.pass(request, reply, found, 'pages');
  }

  /** The cookie for a browser that opens a link of the deployment; undefined for other requests. */
  private cookieFor(id: string, request: FastifyRequest): string | undefined {
    const [, code] = (request.method === 'GET' && LINK.exec(request.originalUrl)) || [];
    const token = code && this.apps.visitors.admit(id, code);
    if (!token) return undefined;
    return `${cookieName(request)}=${token}; Path=/; Max-Age=${VISIT_MS / 1000}; HttpOnly; SameSite=Lax`;
  }
}

/** As a browser sends the cookies of all ports of a host, its name holds the port. */
function cookieName({ headers }: FastifyRequest): string {
  return `fairlead-app-${/:(\d+)$/.exec(headers.host ?? '')?.[1] ?? '80'}`;
}

function tokenIn(request: FastifyRequest): string {
  const start = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? '';
}

/**
 * Refuses what another site's page makes a browser send; following a link to a page is no harm.
 * @throws Forbidden
 */
function requireOwnPage({ method, headers }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  const isLink = mode === 'navigate' && (method === 'GET' || method === 'HEAD');
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
  if ((isForeign && !isLink) || (origin !== undefined && origin !== `http://${host}`)) {
    throw new Forbidden('This deployment answers its own pages only: send the request with a key to its address.');
  }
}
