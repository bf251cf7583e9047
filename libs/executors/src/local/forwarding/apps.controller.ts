import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { appOfHost, DeploymentNames } from '@fairlead/contracts';
import { Conflict, type Infer, note, NotFound, object, str, timestamp, uuid } from '@fairlead/schema';
import { Controller, HttpCode, Inject, Optional, Post, Req } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppForwarding, Passes } from './app-forwarding.service';
import { LINK_MS } from '../app-visitors';
import { LocalApps } from '../local-apps';

/** A slash at the end of a path is no part of it for the router. */
export const APP_PATHS = ['apps/:app', 'apps/:app/*'];

const appPath = object({ deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.') });

const browserLink = object('BrowserLink', {
  url: note(str(), 'Address to open in a browser of this machine.'),
  expires_at: note(timestamp(), 'Until when it can be opened.'),
});
const NO_PAGES =
  'Pages are shown by a server that listens on loopback, without PUBLIC_URL and TRUST_PROXY, for a deployment whose name no other one has.';

@Area('Deployments')
@Controller()
@Passes(APP_PATHS, Scope('invoke', { stream: true, load: 'wait' }))
export class AppsController {
  constructor(
    private readonly apps: LocalApps,
    private readonly forwarding: AppForwarding,
    @Optional() @Inject(DeploymentNames) private readonly names: DeploymentNames | null,
  ) {}

  @Post('v2/deployments/:deployment_id/browser-links')
  @Scope('invoke', { console: true })
  @Describe({
    summary: 'Make a link that shows the pages of a running deployment',
    description: 'Whoever opens it within a minute, once, sees them in this browser for an hour.',
  })
  @Answers({ 201: browserLink, 409: 'Its pages cannot be shown.' })
  @HttpCode(201)
  link(
    @Req() { socket }: FastifyRequest,
    @Context() { tenantId }: CommandContext,
    @Path(appPath) { deployment_id }: Infer<typeof appPath>,
  ) {
    const id = this.apps.kept.find(tenantId, deployment_id);
    if (id === undefined) throw new NotFound(`Deployment ID ${deployment_id} not found.`);
    const name = this.apps.kept.pathOf(tenantId, id)!.slice('/apps/'.length);
    const host = `${name}.localhost:${socket.localPort}`;
    if (!this.apps.hasPages || appOfHost(host) !== name || this.apps.kept.named(name)?.id !== id)
      throw new Conflict(NO_PAGES);
    const expires_at = new Date(Date.now() + LINK_MS).toISOString();
    return { url: `http://${host}/?fairlead-code=${this.apps.visitors.invite(id)}`, expires_at };
  }

  async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { app: named } = request.params as { app: string };
    const { tenantId } = request.actor;
    const preview = this.apps.previews.find(tenantId, named);
    if (preview) return this.forwarding.passPreview(request, reply, preview);
    const id = this.apps.kept.find(tenantId, named);
    if (id === undefined) throw new NotFound(await this.notFound(tenantId, named));
    await this.forwarding.pass(request, reply, { id, tenantId }, 'api');
  }

  /** Why no program answers at an address: there is none, it has never run, or it gets the address when it is deployed. */
  private async notFound(tenantId: string, named: string): Promise<string> {
    const missing = `App '${named}' not found.`;
    const all = (await this.names?.spelled(tenantId, named)) ?? [];
    const found = all.find(({ id }) => this.apps.kept.pathOf(tenantId, id) !== undefined) ?? all[0];
    if (!found) return missing;
    const path = this.apps.kept.pathOf(tenantId, found.id);
    if (path === undefined) return `${missing} The deployment '${found.name}' has not run here yet.`;
    return `${missing} The deployment '${found.name}' is reached at ${path}, and gets this address when it is deployed again.`;
  }
}
