import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { WebhookSecrets } from './webhook/webhook-secrets.service';

/** Clears away the secrets of a removed webhook. */
@Controller()
export class WebhooksConsumer {
  constructor(private readonly secrets: WebhookSecrets) {}

  @EventPattern<string>('WebhookRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    await this.secrets.shred(idOf(event.stream));
  }
}
