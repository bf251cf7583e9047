import { type CommandContext, ForEachCaller } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { WebhookRecord, WithSecret } from './record';
import { WebhookCommands } from './webhook/webhook.commands';
import { WebhookSecrets } from './webhook/webhook-secrets.service';
import { WebhooksOptions } from './webhook/webhooks.options';

/**
 * Adds the secret of a webhook to its record. The stored record contains no secret, so it is decrypted for every
 * answer.
 */
@Injectable()
export class AddSecret extends ForEachCaller<WebhookRecord> {
  constructor(
    private readonly commands: WebhookCommands,
    private readonly secrets: WebhookSecrets,
    private readonly options: WebhooksOptions,
  ) {
    super();
  }

  async show(record: WebhookRecord, { tenantId }: CommandContext): Promise<WithSecret> {
    const { state } = await this.commands.find(tenantId, record.id);
    const [secret] = await this.secrets.open(state, this.options.now());
    return { ...record, secret };
  }
}
