import { createHash } from 'node:crypto';
import {
  EventStore,
  type Metadata,
  type NewEvent,
  Shredded,
  streamName,
  VersionConflict,
  Workspaces,
} from '@fairlead/eventing';
import { Answers, Area, CommandContext, Context, Describe, Path, Scope, shape } from '@fairlead/api';
import { FairShare, ownerOf, readStream } from '@fairlead/edge';
import { Unavailable, type Infer } from '@fairlead/schema';
import type { PushReceivedMessage } from '@fairlead/contracts';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CredentialsStore } from './credentials.store';
import { checkProof, type Delivery, deliveryId, pushes } from './delivery';
import { DeliveryRefused, IntegrationNotFound } from './integration.errors';
import { IntegrationCommands } from './integration.commands';
import { delivered } from './integrations.answers.schema';
import { integrationPath } from './integrations.schema';

/** Largest delivery (bytes): code hosts list 20 commits in one, or some thousand at most. */
const LARGEST = 4 * 1024 * 1024;
/** Number of deliveries that are read at a time. */
const MOST_READ = 64;

@Area('Integrations')
@Controller('v1/integrations')
export class WebhooksController {
  private readonly reading = new FairShare(MOST_READ);

  constructor(
    private readonly store: EventStore,
    private readonly commands: IntegrationCommands,
    private readonly credentials: CredentialsStore,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * Receives a delivery of the code host, proved by the webhook secret. Repeated ones get the same answer and do
   * nothing more.
   */
  @Post(':integration_id/webhook')
  @Scope('public', { stream: true })
  @Describe({
    summary: 'Take in a push webhook of the code host',
    description:
      'The delivery is proved by the `webhook_secret` of the integration, in the way of its code host. A repeated one does nothing more.',
    body: { content: { 'application/json': shape.free } },
  })
  @Answers({ 202: delivered, 401: 'The delivery is not signed with the secret.' })
  @HttpCode(202)
  async receive(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
  ): Promise<{ pushes: number }> {
    const state = await this.commands.stateOf(id);
    if (!state || state.removed) throw new IntegrationNotFound(id);
    await this.workspaces.requireWorking(state.tenant_id);
    const secret = await this.credentials.openWebhookSecret(state).catch((error: unknown) => {
      throw error instanceof Shredded ? new IntegrationNotFound(id) : error;
    });
    if (secret === undefined) throw new DeliveryRefused(401, 'The integration has no webhook_secret.');
    const delivery: Delivery = { headers: request.headers, body: await this.read(request) };
    checkProof(state.provider, delivery, secret);
    const found = pushes(state.provider, delivery);
    const events = found.map((push) => {
      const data: PushReceivedMessage = { integration_id: id, ...push };
      return { type: 'PushReceived' as const, data };
    });
    const stream = streamName('push', hash(id, deliveryId(state.provider, delivery)));
    const metadata = { ...context.metadata, tenant: state.tenant_id, actor: 'system:integrations' };
    if (events.length > 0) await this.once(stream, events, metadata);
    return { pushes: found.length };
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

  /** Appends to a stream of its own for each delivery, so that a repetition is found. */
  private async once(stream: string, events: readonly NewEvent[], metadata: Metadata): Promise<void> {
    try {
      await this.store.append(stream, 0, events, metadata);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

function hash(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}
