import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Conflict, Unavailable } from '@fairlead/schema';
import { Delete, Get, Injectable, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppSockets } from './app-sockets.client';
import { type Kind, pathOf, reachedAt, responseHeaders } from './app-headers.client';
import { forward } from './app-requests.client';
import { previewName } from '../app-previews';
import type { StartedRevision } from '../isolation/app-folders.store';
import { LocalApps } from '../local-apps';
import { AppUnavailable } from '../running/app-runner';
import { connectTo } from '../running/readiness.client';
import type { Entered } from '../running/serving';

/** Headers of our answers that say what a page may do: there the program says it. */
const PAGE_DEFAULTS = ['content-security-policy', 'referrer-policy', 'cache-control'];

const CRONS = /^\/(?:threads\/[^/]+\/)?runs\/crons\/?(?:\?|$)/;

@Injectable()
export class AppForwarding {
  private readonly sockets = new AppSockets();

  constructor(private readonly apps: LocalApps) {}

  /** Answers what the program answers, which is started when it does not run. @throws Unavailable */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, tenantId }: { readonly id: string; readonly tenantId: string },
    kind: Kind,
  ): Promise<void> {
    this.refuseIdleCron(request, id);
    await this.forward(request, reply, { id, name: id, tenantId }, kind, this.count(id, reply));
  }

  /**
   * The same for the program of a held revision: no requests of its deployment are counted, and no cron runs.
   * @throws Unavailable, Conflict
   */
  async passPreview(request: FastifyRequest, reply: FastifyReply, revision: StartedRevision): Promise<void> {
    const { deploymentId: id, tenantId, revisionId } = revision;
    requirePreview(request, this.apps.kept.get(id)?.stopped);
    const name = previewName(id, revisionId);
    await this.forward(request, reply, { id, name, tenantId }, 'api', () => undefined);
  }

  private async forward(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, name, tenantId }: { readonly id: string; readonly name: string; readonly tenantId: string },
    kind: Kind,
    begins: () => void,
  ): Promise<void> {
    const { entered, socket } = await this.reach(name).catch((error: unknown) => {
      const isKnown = error instanceof AppUnavailable;
      throw isKnown ? new Unavailable(1, `The deployment does not answer: ${error.message}`) : error;
    });
    reply.raw.once('close', entered.end);
    if (reply.raw.destroyed) {
      socket.destroy();
      return entered.end();
    }
    const { upgrade } = request.raw as IncomingMessage & { upgrade?: boolean };
    const reached = reachedAt(request, kind, this.apps.limits.publicUrl);
    const answer = await (upgrade
      ? this.sockets.join(request, reply, { entered, to: socket, id, tenantId, kind, reached })
      : forward(request, reply, socket, kind, reached));
    begins();
    if (!answer) return;
    if (kind === 'pages') PAGE_DEFAULTS.forEach((name) => void reply.removeHeader(name));
    await reply
      .status(answer.statusCode ?? 502)
      .headers(responseHeaders(answer, kind, reached))
      .send(answer);
  }

  /** Counts a request once it is over. What is returned is to be called when its response begins. */
  private count(id: string, { raw }: FastifyReply): () => void {
    const from = performance.now();
    let ms: number | null = null;
    raw.once('close', () => this.apps.requests.count(id, Date.now(), raw.statusCode >= 500, ms));
    return () => (ms = performance.now() - from);
  }

  /** A LangGraph server keeps the times of its crons, and would sleep through them. @throws Conflict */
  private refuseIdleCron(request: FastifyRequest, id: string): void {
    if (!isCron(request) || this.apps.kept.isAlwaysOn(id) || !this.apps.kept.mayHaveCrons(id)) return;
    throw new Conflict(
      'A cron would not run while the deployment sleeps. Set min_scale to 1 in the resource_spec of the deployment and restart it, so that it never sleeps.',
    );
  }

  /** A process of a program, and a connection to it. Those that take none are passed over. @throws AppUnavailable */
  private async reach(id: string): Promise<{ readonly entered: Entered; readonly socket: Socket }> {
    const tried = new Set<number>();
    for (;;) {
      const entered = await this.apps.runners.enter(id, tried);
      const socket = await connectTo(entered.port);
      if (socket) return { entered, socket };
      entered.end();
      tried.add(entered.port);
    }
  }
}

/** @throws Conflict for a cron, which does not run while a revision is held; Unavailable while its deployment is stopped */
export function requirePreview(request: FastifyRequest, isStopped: boolean | undefined): void {
  if (isCron(request)) throw new Conflict('A revision that is held runs no crons.');
  if (isStopped) throw new Unavailable(1, 'The deployment does not answer: It was stopped.');
}

function isCron({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && CRONS.test(pathOf(url));
}

interface Passing {
  pass(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

const METHODS = { get: Get, post: Post, put: Put, patch: Patch, remove: Delete };

/** Gives a controller a route for each HTTP method; all of them call its method `pass`. */
export function Passes(paths: string[], scope: MethodDecorator) {
  return ({ prototype }: { readonly prototype: Passing }): void => {
    for (const [name, Method] of Object.entries(METHODS)) {
      const value = function (this: Passing, request: FastifyRequest, reply: FastifyReply) {
        return this.pass(request, reply);
      };
      const descriptor = { value, configurable: true, writable: true };
      Object.defineProperty(prototype, name, descriptor);
      Req()(prototype, name, 0);
      Res()(prototype, name, 1);
      for (const decorate of [Method(paths), scope]) decorate(prototype, name, descriptor);
    }
  };
}
