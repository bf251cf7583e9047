import { randomBytes } from 'node:crypto';
import { type Sealed, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { secretsAt, type Webhook } from './webhook';

const SECRET_BYTES = 32;

/** Makes and encrypts the secrets that deliveries are signed with, and decrypts them for signing. */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly vault: Vault) {}

  /** Returns a new secret, encrypted. */
  async make(tenantId: string, webhookId: string): Promise<Sealed> {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return this.vault.seal(tenantId, webhookId, 'secret', secret);
  }

  /**
   * Returns the secrets for signing at a time, the current one first. @throws Shredded when the webhook is being
   * removed
   */
  async open(webhook: Webhook, now: number): Promise<[string, ...string[]]> {
    const { tenant_id, id } = webhook;
    const opened = secretsAt(webhook, now).map((sealed) => this.vault.open(tenant_id, id, 'secret', sealed));
    return (await Promise.all(opened)) as [string, ...string[]];
  }

  /** Makes the secrets of this webhook unreadable. */
  async shred(webhookId: string): Promise<void> {
    await this.vault.shred(webhookId);
  }
}
