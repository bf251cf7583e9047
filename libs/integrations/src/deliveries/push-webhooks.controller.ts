import { Shredded, Workspaces } from '@fairlead/eventing';
import { Answers, Area, Describe, Path, Scope } from '@fairlead/api';
import { ownerOf, readStream } from '@fairlead/edge';
import { anyObject, FairShare, type Infer, Unavailable } from '@fairlead/schema';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CredentialsStore } from '../integration/credentials.store';
import { IntegrationNotFound } from '../integration/integration.errors';
import { IntegrationCommands } from '../integration/integration.commands';
import { integrationPath } from '../integration/integration.schema';
import { received } from './deliveries.schema';
import { DeliveryIntake } from './delivery-intake.service';

/** Largest delivery (bytes): code hosts list 20 commits in one, or some thousand at most. */
const LARGEST = 4 * 1024 * 1024;
/** Number of deliveries that are read at a time. */
const MOST_READ = 64;

@Area('Integrations', 'webhooks')
@Controller('v1/integrations')
export class PushWebhooksController {
  private readonly reading = new FairShare(MOST_READ);

  constructor(
    private readonly commands: IntegrationCommands,
    private readonly credentials: CredentialsStore,
    private readonly workspaces: Workspaces,
    private readonly intake: DeliveryIntake,
  ) {}

  /**
   * Receives a delivery of the code host, proved by the webhook secret, and says what is made of it. A repeated one does
   * nothing more, unless something of it was set aside or left out.
   */
  @Post(':integration_id/webhook')
  @Scope('public', { stream: true })
  @Describe({
    summary: 'Take in a push webhook of the code host',
    description:
      'The delivery is proved by the `webhook_secret` of the integration, in the way of its code host. The host is then asked for the heads of the branches that deployments follow.',
    body: { content: { 'application/json': anyObject() } },
  })
  @Answers({ 202: received, 401: 'The delivery is not signed with the secret.' })
  @HttpCode(202)
  async receive(
    @Req() request: FastifyRequest,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
  ) {
    const state = await this.commands.stateOf(id);
    if (!state || state.removed) throw new IntegrationNotFound(id);
    await this.workspaces.requireWorking(state.tenant_id);
    const secret = await this.credentials.openWebhookSecret(state).catch((error: unknown) => {
      throw error instanceof Shredded ? new IntegrationNotFound(id) : error;
    });
    return this.intake.receive(state, secret, { headers: request.headers, body: await this.read(request) });
  }

  /** Reads the body of a sender that is not known yet: its address has a share of the deliveries that are read. */
  private async read(request: FastifyRequest): Promise<Buffer> {
    const address = ownerOf(request);
    if (!this.reading.take(address)) throw new Unavailable(5, 'Too many deliveries at a time, try again later.');
    try {
      return await readStream(request, LARGEST);
    } finally {
      this.reading.give(address);
    }
  }
}
