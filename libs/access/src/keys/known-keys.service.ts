import { hash, timingSafeEqual } from 'node:crypto';
import type { Actor } from '@fairlead/api';
import { Consistency, Vault } from '@fairlead/eventing';
import { Recent, Unauthorized } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { type Manager, OPERATOR_KEY_ID } from './api-key';
import type { ApiKeyEntity } from './api-key.entity';
import { apiKeysProjection } from './api-key.projection';
import { ApiKeyQueries } from './api-key.queries';
import { keyIdOf } from './key-text';
import { KEPT, Lookup } from './lookup';

/** Subject whose data key in the vault is the pepper of all key hashes. */
export const PEPPER = 'apiKeys';

/** Keys by their text or id. A key that another process revoked is found for about a second. */
@Injectable()
export class KnownKeys {
  private readonly keys: Lookup<ApiKeyEntity>;
  /** Keys whose text has not been right before: a flood of unknown ones does not delay the others' queries. */
  private readonly unproven: Lookup<ApiKeyEntity>;
  /** Keys whose text was right before, by its SHA-256: finding them again costs neither HMAC nor decoding. */
  private readonly verified = new Recent<Pick<ApiKeyEntity, 'id' | 'hash'>>(KEPT);

  constructor(
    private readonly vault: Vault,
    queries: ApiKeyQueries,
    consistency: Consistency,
  ) {
    const load = (ids: string[]) => queries.byIds(ids);
    this.keys = new Lookup(load);
    // What another process has just created is known here as soon as it was answered there.
    this.unproven = new Lookup(load, () => consistency.upToDate(undefined, [apiKeysProjection.name]));
  }

  /** Returns the key with this text, live or not. */
  async find(text: string): Promise<ApiKeyEntity | undefined> {
    const print = hash('sha256', text, 'base64url');
    const before = this.verified.get(print);
    const known = before && (await this.withHash(before.id, before.hash));
    if (known) return known;
    const key = await this.verify(text);
    if (key) this.verified.set(print, { id: key.id, hash: key.hash });
    return key;
  }

  /** Returns a key by its id, unless its text was replaced, as that of the operator's key can be. */
  async withHash(id: string, expected: string): Promise<ApiKeyEntity | undefined> {
    const key = await this.keys.get(id);
    return key?.hash === expected ? key : undefined;
  }

  /** Returns the key of an actor. @throws Unauthorized when it has been removed since. */
  async keyOf(actor: Actor): Promise<ApiKeyEntity> {
    const key = await this.keys.get(actor.keyId);
    if (!key) throw new Unauthorized();
    return key;
  }

  /** Returns an actor as the manager of keys. @throws Unauthorized when its key has been removed since. */
  async managerOf(actor: Actor): Promise<Manager> {
    const { kind, expires_at } = await this.keyOf(actor);
    return { ...actor, kind, expires_at };
  }

  /** Makes a key that was just created or revoked known in this process at once. */
  learn(key: ApiKeyEntity): void {
    this.keys.put(key);
    this.unproven.put(key);
  }

  /** Reads all keys anew: with one that was revoked, others have ended. */
  forget(): void {
    this.keys.forget();
    this.unproven.forget();
  }

  private async verify(text: string): Promise<ApiKeyEntity | undefined> {
    const expected = Buffer.from(await this.vault.digest(PEPPER, text));
    const id = keyIdOf(text);
    // The operator's key may have any form, that of the others included.
    for (const key of [await this.keys.get(OPERATOR_KEY_ID), id && (await this.unproven.get(id))]) {
      if (key && isSame(Buffer.from(key.hash), expected)) return key;
    }
    return undefined;
  }
}

/** Returns false when a key was revoked or has expired. */
export function isLive({ revoked_at, expires_at }: ApiKeyEntity): boolean {
  return revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now());
}

/** Compares two hashes in constant time. */
function isSame(found: Buffer, expected: Buffer): boolean {
  return found.length === expected.length && timingSafeEqual(found, expected);
}
