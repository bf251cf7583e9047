import { randomBytes } from 'node:crypto';
import { type Sealed, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { secretsAt, type Webhook } from './webhook';

const SECRET_BYTES = 32;

/** Makes and seals the secrets that deliveries are signed with, and opens them to sign. */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly vault: Vault) {}

  /** A new secret, which nobody knows until it is opened. */
  async make(tenantId: string, webhookId: string): Promise<Sealed> {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return this.vault.seal(tenantId, webhookId, 'secret', secret);
  }

  /** The secrets to sign with at a time, the current one first. @throws Shredded when the webhook is being removed */
  async open(webhook: Webhook, now: number): Promise<[string, ...string[]]> {
    const { tenant_id, id } = webhook;
    const opened = secretsAt(webhook, now).map((sealed) => this.vault.open(tenant_id, id, 'secret', sealed));
    return (await Promise.all(opened)) as [string, ...string[]];
  }

  /** Nobody can read the secrets of this webhook again. */
  async shred(webhookId: string): Promise<void> {
    await this.vault.shred(webhookId);
  }
}
