import { randomBytes } from 'node:crypto';
import { setImmediate as otherRequests } from 'node:timers/promises';
import { EventStore, type Metadata, Shredded, streamName, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { Deployment } from '../model/deployment';
import type { Secret } from '../model/deployment-events';
import { DeploymentNotFound } from '../model/deployment.errors';
import { checkSecrets, MASK, type OfferedSecret } from '../model/secrets';

const SALT_BYTES = 9;
/** Placeholder for the digest of a value that is not stored. */
const NEW_VALUE = 'new value';
/** Secrets sealed in one turn of the event loop. */
const AT_ONCE = 50;

/** A secret as a request brings it. */
interface PlainSecret {
  readonly name: string;
  readonly value: string;
}

/** Seals the secrets of deployments and opens them again; every opening is recorded. */
@Injectable()
export class SecretStore {
  constructor(
    private readonly vault: Vault,
    private readonly store: EventStore,
  ) {}

  /**
   * The secrets ready for a command: sealed, or only named when the mask was sent. A value equal to the stored one
   * is not sealed again.
   * @throws InvalidDeployment for names and values that no deployment may have.
   */
  async seal(tenantId: string, id: string, stored: readonly Secret[], sent: readonly PlainSecret[]) {
    checkSecrets(sent);
    const known = new Map(stored.map((secret) => [secret.name, secret]));
    const sealed: OfferedSecret[] = [];
    for (const secret of sent) {
      sealed.push(await this.sealOne(tenantId, id, known.get(secret.name), secret));
      if (sealed.length % AT_ONCE === 0) await otherRequests();
    }
    return sealed;
  }

  /**
   * As `seal`, for a command that is only tried: nothing is written, and what is new cannot be opened. Without `stored`,
   * for keys that may not read secrets, every value counts as new.
   */
  async pretend(id: string, stored: readonly Secret[], sent: readonly PlainSecret[]): Promise<OfferedSecret[]> {
    checkSecrets(sent);
    const known = new Map(stored.map((secret) => [secret.name, secret]));
    const pretended: OfferedSecret[] = [];
    for (const { name, value } of sent) {
      if (value === MASK) pretended.push({ name });
      else {
        const same = await this.known(id, known.get(name), { name, value });
        pretended.push(same ?? { name, sealed: { subject: id, sealed: '' }, digest: NEW_VALUE });
      }
      if (pretended.length % AT_ONCE === 0) await otherRequests();
    }
    return pretended;
  }

  /**
   * The values of `secrets` of a deployment by name. That they were read is recorded before they are given out.
   * @throws DeploymentNotFound when the deployment was removed meanwhile.
   */
  async open(
    { id, tenant_id }: Deployment,
    secrets: readonly Secret[],
    version: number,
    metadata: Metadata,
  ): Promise<Map<string, string>> {
    const opened = await Promise.all(
      secrets.map(async ({ name, sealed }) => [name, await this.vault.open(tenant_id, id, name, sealed)] as const),
    ).catch((error: unknown) => {
      throw error instanceof Shredded ? new DeploymentNotFound(id) : error;
    });
    const names = secrets.map(({ name }) => name);
    const read = { type: 'SecretsRead' as const, data: { version, names } };
    if (names.length > 0) await this.store.append(streamName('secretAccess', id), 'any', [read], metadata);
    return new Map(opened);
  }

  private async sealOne(
    tenantId: string,
    id: string,
    stored: Secret | undefined,
    { name, value }: PlainSecret,
  ): Promise<OfferedSecret> {
    if (value === MASK) return { name };
    const known = await this.known(id, stored, { name, value });
    if (known) return known;
    const salt = randomBytes(SALT_BYTES).toString('base64url');
    const digest = await this.digest(id, salt, { name, value });
    return { name, sealed: await this.vault.seal(tenantId, id, name, value), digest };
  }

  /** The stored secret of this name, if there is one, when it has this value. */
  private async known(id: string, secret: Secret | undefined, sent: PlainSecret): Promise<Secret | undefined> {
    if (!secret) return undefined;
    const [salt, salted] = secret.digest.split('.');
    // Digests of earlier versions had no salt.
    const digest = salted === undefined ? await this.vault.digest(id, sent.value) : await this.digest(id, salt!, sent);
    return digest === secret.digest ? secret : undefined;
  }

  /** Histories show digests: their salt keeps equal values from being recognised by whoever sets others to compare. */
  private async digest(id: string, salt: string, { name, value }: PlainSecret): Promise<string> {
    return `${salt}.${await this.vault.digest(id, JSON.stringify([salt, name, value]))}`;
  }
}
