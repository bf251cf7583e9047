import type { EventContext } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import type { WebhookRemoved } from './webhook';
import { WebhookSecrets } from './webhook.secrets';

/** Clears away the secrets of a removed webhook. */
@Controller()
export class WebhooksConsumer {
  constructor(private readonly secrets: WebhookSecrets) {}

  @EventPattern<string>('WebhookRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    await this.secrets.shred((event.data as WebhookRemoved['data']).webhook_id);
  }
}
