import { randomUUID } from 'node:crypto';
import { type CryptoKey, errors, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Pool } from 'pg';
import { SharedReads } from '@fairlead/postgres';

interface SigningKey {
  readonly id: string;
  readonly key: CryptoKey;
  /** Time at which a new key replaces it. */
  readonly retires: number;
}

const HOUR = 3_600_000;
/**
 * A key signs for an hour and is known for a day (hours). That is longer than its signatures are valid, and longer than
 * a database is usually away.
 */
const KNOWN_HOURS = 24;
/** Longest time for which a withdrawn key may still be believed (ms). */
const FRESH_MS = 60_000;

/**
 * Makes the key that this gateway process signs with. Only its public half is stored, and a new one is made every hour.
 */
export class SigningKeys {
  private signing: Promise<SigningKey> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly pool: Pool) {}

  /** Returns the current key, after its public half was published. */
  async current(): Promise<SigningKey> {
    this.signing ??= this.publish().catch((error: unknown) => {
      this.signing = undefined;
      throw error;
    });
    const signing = await this.signing;
    // The former key serves until the next one can be found.
    if (signing.retires < Date.now()) this.next ??= this.replace();
    return signing;
  }

  private async replace(): Promise<void> {
    try {
      this.signing = Promise.resolve(await this.publish());
    } catch {
      // The former key is known for a day: the next request tries again.
    } finally {
      this.next = undefined;
    }
  }

  private async publish(): Promise<SigningKey> {
    const id = randomUUID();
    const { publicKey, privateKey } = await generateKeyPair('EdDSA');
    await this.pool.query(
      `insert into identity_keys (id, public_key, expires_at) values ($1, $2, now() + $3 * interval '1 hour')`,
      [id, JSON.stringify(await exportJWK(publicKey)), KNOWN_HOURS],
    );
    await this.pool.query('delete from identity_keys where expires_at < now()');
    return { id, key: privateKey, retires: Date.now() + HOUR };
  }
}

/** Finds the public keys of all gateway processes, for a service. */
export class IdentityKeys {
  private keys: ReadonlyMap<string, CryptoKey> = new Map();
  private readAt = 0;
  /** Tokens that this process has accepted, in the current period and the one before. */
  private used = [new Set<string>(), new Set<string>()] as const;
  private usedUntil = 0;
  private readonly reads = new SharedReads();

  constructor(private readonly pool: Pool) {}

  /** Returns the key with an id, also one that was published just now. @throws JWKSNoMatchingKey when there is none. */
  async find(id: string): Promise<CryptoKey> {
    const known = this.keys.get(id);
    if (known) {
      // Believed a while longer when the database cannot be asked.
      if (this.readAt + FRESH_MS < Date.now()) this.read().catch(() => undefined);
      return known;
    }
    await this.read();
    const found = this.keys.get(id);
    if (!found) throw new errors.JWKSNoMatchingKey();
    return found;
  }

  /** Records the id of a token for at least `ms` milliseconds. Returns false when this process has seen it before. */
  use(id: string, ms: number): boolean {
    const now = performance.now();
    if (now > this.usedUntil) {
      this.used = [new Set(), now > this.usedUntil + ms ? new Set() : this.used[0]];
      this.usedUntil = now + ms;
    }
    const [current, before] = this.used;
    if (current.has(id) || before.has(id)) return false;
    current.add(id);
    return true;
  }

  private read(): Promise<void> {
    return this.reads.run('', async () => {
      this.readAt = Date.now();
      const { rows } = await this.pool.query<{ id: string; public_key: string }>(
        'select id, public_key from identity_keys where expires_at > now()',
      );
      const entries = rows.map(async ({ id, public_key }): Promise<[string, CryptoKey]> => {
        return [id, this.keys.get(id) ?? ((await importJWK(JSON.parse(public_key) as JWK, 'EdDSA')) as CryptoKey)];
      });
      this.keys = new Map(await Promise.all(entries));
    });
  }
}
