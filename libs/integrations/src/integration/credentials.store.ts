import { createPrivateKey } from 'node:crypto';
import { type Sealed, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { InvalidIntegration } from './integration.errors';
import type { Auth, Credentials, Integration } from './integration';

/** Seals the credentials of an integration, and opens them to call its code host. */
@Injectable()
export class CredentialsStore {
  constructor(private readonly vault: Vault) {}

  /** @throws InvalidIntegration when the private key is no RSA key in PEM. */
  async seal(tenantId: string, id: string, credentials: Credentials): Promise<Auth> {
    if (credentials.kind === 'token') {
      return { kind: 'token', token: await this.vault.seal(tenantId, id, 'token', credentials.token) };
    }
    const { app_id, installation_id } = credentials;
    const key = normalKey(credentials.private_key);
    return {
      kind: 'app',
      app_id,
      installation_id,
      private_key: await this.vault.seal(tenantId, id, 'private_key', key),
    };
  }

  /** Returns the sealed secret; undefined without one. */
  async sealWebhookSecret(tenantId: string, id: string, secret: string | undefined): Promise<Sealed | undefined> {
    return secret === undefined ? undefined : this.vault.seal(tenantId, id, 'webhook_secret', secret);
  }

  /** @throws Shredded when the integration is being removed. */
  async open({ tenant_id, id, auth }: Integration): Promise<Credentials> {
    if (auth.kind === 'token') {
      return { kind: 'token', token: await this.vault.open(tenant_id, id, 'token', auth.token) };
    }
    const private_key = await this.vault.open(tenant_id, id, 'private_key', auth.private_key);
    return { kind: 'app', app_id: auth.app_id, installation_id: auth.installation_id, private_key };
  }

  /** Returns the secret that deliveries are signed with; undefined when none was set. */
  async openWebhookSecret({ tenant_id, id, webhook_secret }: Integration): Promise<string | undefined> {
    return webhook_secret ? this.vault.open(tenant_id, id, 'webhook_secret', webhook_secret) : undefined;
  }

  /** Makes the credentials of this integration unreadable. */
  async shred(id: string): Promise<void> {
    await this.vault.shred(id);
  }
}

/** Returns a private key in PKCS #8, which every signer accepts. */
function normalKey(pem: string): string {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch {
    // Answered below: the parser's message could hold parts of the key.
  }
  throw new InvalidIntegration('credentials.private_key must be an RSA private key in PEM.');
}
