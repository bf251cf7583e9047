import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, sign, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type DomainEvent, type Metadata, streamName } from '../core/event';
import { EventStore, StreamDeleted } from '../core/event-store';
import { handle, load } from '../core/handle';
import type { Model } from '../core/model';
import { newId } from '../core/new-id';
import { type Sealed, Vault } from '../vault/vault';

type LogKeyCreated = DomainEvent<
  'LogKeyCreated',
  {
    key_id: string;
    public: JsonWebKey;
    private: Sealed;
    /** The streams that held the keys before and were deleted in the event store. */
    replaces?: readonly string[];
  }
>;

export interface Signature {
  readonly key_id: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** A public key as JWK (RFC 8037), with its id. */
export type PublicKey = JsonWebKey & { readonly kid: string };

/**
 * Category of the streams with signing keys: `logKey-1`; when that was deleted in the event store, `logKey-2`, and so
 * on.
 */
const STREAM = 'logKey';
/** The key belongs to the installation, not to a tenant. */
const TENANT = '';

const keys: Model<readonly LogKeyCreated['data'][], LogKeyCreated> = {
  initial: [],
  evolve: (state, event) => [...state, event.data],
};

/** The stream with the signing key was deleted, and the operator has not replaced the key yet. */
class SigningKeyLost extends StreamDeleted {
  constructor(stream: string) {
    super(stream);
    this.message +=
      ' It held the key that the log is signed with, so that nothing is signed or sealed now. Find out who deleted it; ' +
      'then `npm run audit -- --replace-key "<why>"` makes a new key and records that (docs/guides/audit.md).';
  }
}

class SigningKeyPresent extends Error {
  constructor(keyId: string) {
    super(`The signing key ${keyId} is there: nothing is replaced.`);
    this.name = 'SigningKeyPresent';
  }
}

interface Known {
  /** The stream of the present keys; the next key is appended to it. */
  readonly stream: string;
  readonly keys: readonly LogKeyCreated['data'][];
  /** Earlier streams of the same kind, which were deleted in the event store. */
  readonly lost: readonly string[];
}

/** Signs exported histories, hashes and seals, with a key of the installation that the log contains encrypted. */
@Injectable()
export class LogSigner {
  /** The decrypted key. It is kept because a hash is signed with each batch of the log. */
  private signing: ((text: string) => Signature) | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  /** Signs a text with the newest key. The first call creates the key. */
  async sign(text: string): Promise<Signature> {
    return (await this.key())(text);
  }

  /** Returns a function that signs with the newest key. The first call creates the key. */
  async key(): Promise<(text: string) => Signature> {
    if (this.signing) return this.signing;
    const known = await this.found();
    const { key_id, private: sealed } = known.keys.at(-1) ?? (await this.create(known, { actor: 'system:audit' }));
    const key = createPrivateKey(await this.vault.open(TENANT, subjectOf(key_id), 'private', sealed));
    this.signing = (text) => ({ key_id, signature: sign(null, Buffer.from(text), key).toString('base64url') });
    return this.signing;
  }

  /**
   * Creates a key when the stream of the keys was deleted, and returns its id. Its event contains the reason and the
   * names of the deleted streams.
   * @throws SigningKeyPresent
   */
  async replaceLost(reason: string): Promise<string> {
    const known = await this.known();
    const key = known.keys.at(-1);
    if (key || known.lost.length === 0)
      throw new SigningKeyPresent(key?.key_id ?? 'that the service makes at its start');
    return (await this.create(known, { actor: 'operator', reason })).key_id;
  }

  async verify(text: string, signature: Signature): Promise<boolean> {
    return isSignedBy(await this.publicKeys(), text, signature);
  }

  /** Returns the public keys of this installation, oldest first. @throws SigningKeyLost */
  async publicKeys(): Promise<PublicKey[]> {
    return (await this.found()).keys.map(({ key_id, public: key }) => ({
      ...key,
      kid: key_id,
      alg: 'EdDSA',
      use: 'sig',
    }));
  }

  /** @throws SigningKeyLost so that nobody who deletes the key can have it replaced unnoticed */
  private async found(): Promise<Known> {
    const known = await this.known();
    const lost = known.lost.at(-1);
    if (known.keys.length === 0 && lost !== undefined) throw new SigningKeyLost(lost);
    return known;
  }

  private async known(): Promise<Known> {
    const lost: string[] = [];
    for (;;) {
      const stream = streamName(STREAM, String(lost.length + 1));
      try {
        return { stream, keys: (await load(this.store, keys, stream)).state, lost };
      } catch (error) {
        if (!(error instanceof StreamDeleted)) throw error;
        lost.push(stream);
      }
    }
  }

  private async create({ stream, lost }: Known, metadata: Metadata): Promise<LogKeyCreated['data']> {
    const key_id = newId();
    const pair = generateKeyPairSync('ed25519');
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const data: LogKeyCreated['data'] = {
      key_id,
      public: pair.publicKey.export({ format: 'jwk' }),
      private: await this.vault.seal(TENANT, subjectOf(key_id), 'private', pem),
      ...(lost.length > 0 && { replaces: lost }),
    };
    const first = (state: readonly LogKeyCreated['data'][]): LogKeyCreated[] =>
      state.length > 0 ? [] : [{ type: 'LogKeyCreated', data }];
    return (await handle(this.store, keys, stream, first, metadata)).state.at(-1)!;
  }
}

export function isSignedBy(keys: readonly PublicKey[], text: string, { key_id, signature }: Signature): boolean {
  const key = keys.find(({ kid }) => kid === key_id);
  if (!key) return false;
  try {
    const publicKey = createPublicKey({ key, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
  } catch {
    // What is no key, or no signature, has signed nothing.
    return false;
  }
}

function subjectOf(keyId: string): string {
  return `logKey:${keyId}`;
}
