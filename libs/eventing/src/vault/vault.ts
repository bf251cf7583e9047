import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Recent } from '@fairlead/schema';
import { transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';
import { MasterKeyProblem, type MasterKeys } from './master-key';

/** An encrypted value, which only the vault can read. It is safe in events, tables, logs and messages. */
export interface Sealed {
  readonly subject: string;
  readonly sealed: string;
}

/** The data key of the value was deleted, so that nobody can decrypt it. */
export class Shredded extends Error {
  constructor(readonly subject: string) {
    super(`What was sealed for ${subject} has been shredded.`);
    this.name = 'Shredded';
  }
}

/** The sealed value was changed, or belongs to another tenant, subject or name. */
export class SealBroken extends Error {
  constructor(readonly subject: string) {
    super(`A sealed value of ${subject} does not open.`);
    this.name = 'SealBroken';
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const DIGEST_BYTES = 16;
const KEPT = 10_000;
/** Time for which a process may use a data key that another process has deleted (ms). */
const KEPT_MS = 60_000;
const ROTATED_AT_ONCE = 500;

interface DataKey {
  readonly key: Buffer;
  /** Key for HMACs, derived from the data key. */
  readonly digestKey: Buffer;
  /** Public mark that distinguishes this key from a later one of the same subject. */
  readonly mark: string;
}

interface Row {
  subject: string;
  key_id: string;
  wrapped: Buffer;
}

interface Kept {
  readonly found: Promise<DataKey | undefined>;
  readonly until: number;
}

/**
 * Encrypts secrets with AES-256-GCM, under one data key per subject, bound to tenant, subject and name. The table
 * `data_keys` contains the data keys, encrypted with the current master key.
 */
export class Vault {
  private readonly keys: DataKeys;

  constructor(pool: Pool, masterKeys: MasterKeys) {
    this.keys = new DataKeys(pool, masterKeys);
  }

  /** Encrypts a text. The first value of a subject makes its data key. */
  async seal(tenant: string, subject: string, name: string, plain: string): Promise<Sealed> {
    const { key, mark } = await this.keys.findOrCreate(subject);
    const box = encrypt(key, bytesOf(plain), [tenant, subject, name]);
    return { subject, sealed: `1.${mark}.${box.toString('base64url')}` };
  }

  /**
   * Decrypts a result of `seal` for the same tenant, subject and name.
   * @throws Shredded after `shred(subject)`, also when the subject has a newer data key.
   * @throws SealBroken when anything differs.
   */
  async open(tenant: string, subject: string, name: string, { subject: owner, sealed }: Sealed): Promise<string> {
    const [, mark, box] = /^1\.([\w-]{11})\.([\w-]+)$/.exec(sealed) ?? [];
    if (owner !== subject || mark === undefined || box === undefined) throw new SealBroken(subject);
    const dataKey = await this.keys.find(subject);
    if (dataKey?.mark !== mark) throw new Shredded(subject);
    try {
      const bytes = decrypt(dataKey.key, Buffer.from(box, 'base64url'), [tenant, subject, name]);
      return JSON.parse(bytes.toString()) as string;
    } catch {
      throw new SealBroken(subject);
    }
  }

  /**
   * Returns a digest that is safe to show: the first 128 bits of an HMAC-SHA-256 under a key of the subject, as 22
   * characters of base64url. Equal texts of one subject have equal digests. A digest stays valid after a rotation of
   * the master key, but not after `shred`.
   */
  async digest(subject: string, plain: string): Promise<string> {
    const { digestKey } = await this.keys.findOrCreate(subject);
    return createHmac('sha256', digestKey)
      .update(bytesOf(plain))
      .digest()
      .subarray(0, DIGEST_BYTES)
      .toString('base64url');
  }

  /** Makes all encrypted values of a subject unreadable: in this process at once, in others within a minute. */
  async shred(subject: string): Promise<void> {
    await this.keys.delete(subject);
  }

  /**
   * Encrypts every data key with the current master key, in batches. Returns their number. No encrypted value changes.
   */
  async rotate(): Promise<number> {
    return this.keys.rotate();
  }
}

class DataKeys {
  private readonly kept = new Recent<Kept>(KEPT);

  constructor(
    private readonly pool: Pool,
    private readonly masterKeys: MasterKeys,
  ) {}

  find(subject: string): Promise<DataKey | undefined> {
    const kept = this.kept.get(subject);
    if (kept && kept.until > Date.now()) return kept.found;
    const found = this.read(subject);
    const entry = { found, until: Date.now() + KEPT_MS };
    this.kept.set(subject, entry);
    const forget = () => this.kept.get(subject) === entry && this.kept.delete(subject);
    found.then((key) => key ?? forget(), forget);
    return found;
  }

  /** Returns the data key of a subject, which is made when it does not exist. Concurrent processes get the same one. */
  async findOrCreate(subject: string): Promise<DataKey> {
    const known = await this.find(subject);
    if (known) return known;
    const { id, key } = this.masterKeys.current;
    await this.pool.query(
      'insert into data_keys (subject, key_id, wrapped) values ($1, $2, $3) on conflict do nothing',
      [subject, id, encrypt(key, randomBytes(32), wrapContext(subject, id))],
    );
    return (await this.find(subject)) ?? this.findOrCreate(subject);
  }

  async delete(subject: string): Promise<void> {
    await this.pool.query('delete from data_keys where subject = $1', [subject]);
    this.kept.delete(subject);
  }

  async rotate(): Promise<number> {
    let rotated = 0;
    for (;;) {
      const count = await transaction(this.pool, (tx) => this.rotateSome(tx));
      rotated += count;
      if (count === 0) return rotated;
    }
  }

  private async rotateSome(tx: PoolClient): Promise<number> {
    const { id, key } = this.masterKeys.current;
    const { rows } = await tx.query<Row>(
      'select subject, key_id, wrapped from data_keys where key_id <> $1 order by subject limit $2 for update',
      [id, ROTATED_AT_ONCE],
    );
    const wrapped = rows.map((row) => encrypt(key, this.unwrap(row), wrapContext(row.subject, id)));
    await tx.query(
      `update data_keys set key_id = $1, wrapped = fresh.wrapped
       from unnest($2::text[], $3::bytea[]) as fresh (subject, wrapped) where data_keys.subject = fresh.subject`,
      [id, rows.map((row) => row.subject), wrapped],
    );
    return rows.length;
  }

  private async read(subject: string): Promise<DataKey | undefined> {
    const { rows } = await this.pool.query<Row>('select subject, key_id, wrapped from data_keys where subject = $1', [
      subject,
    ]);
    return rows[0] && dataKey(this.unwrap(rows[0]));
  }

  private unwrap({ subject, key_id, wrapped }: Row): Buffer {
    const { current, older } = this.masterKeys;
    const master = [current, ...older].find(({ id }) => id === key_id);
    if (!master) throw new MasterKeyProblem(`The master key ${key_id}, which wrapped a data key, is not configured.`);
    return decrypt(master.key, wrapped, wrapContext(subject, key_id));
  }
}

/** Returns the bytes of a text as JSON, because UTF-8 alone would lose lone surrogates. */
function bytesOf(plain: string): Buffer {
  return Buffer.from(JSON.stringify(plain));
}

function wrapContext(subject: string, keyId: string): string[] {
  return ['data key', subject, keyId];
}

function dataKey(key: Buffer): DataKey {
  const digestKey = Buffer.from(hkdfSync('sha256', key, '', 'fairlead digest', 32));
  const mark = createHmac('sha256', key).update('fairlead data key mark').digest('base64url').slice(0, 11);
  return { key, digestKey, mark };
}

/** Encrypts with AES-256-GCM: a random 96-bit nonce, the ciphertext and the 128-bit tag, in this order. */
function encrypt(key: Buffer, plain: Buffer, context: readonly string[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, box: Buffer, context: readonly string[]): Buffer {
  if (box.length < NONCE_BYTES + TAG_BYTES) throw new Error('The box is too short.');
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(associated(context))
    .setAuthTag(box.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Returns the associated data of a context. As JSON, no two contexts have the same bytes. */
function associated(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
}
