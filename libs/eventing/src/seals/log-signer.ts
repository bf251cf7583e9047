import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, sign, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DomainEvent } from '../core/event';
import { EventStore } from '../core/event-store';
import { handle, load } from '../core/handle';
import type { Model } from '../core/model';
import { newId } from '../core/new-id';
import { type Sealed, Vault } from '../vault/vault';

type LogKeyCreated = DomainEvent<'LogKeyCreated', { key_id: string; public: JsonWebKey; private: Sealed }>;

/** What the holder of a signing key has said of a text. */
export interface Signature {
  readonly key_id: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** A public key as JWK (RFC 8037), with its id. */
export type PublicKey = JsonWebKey & { readonly kid: string };

const STREAM = 'logKey-1';
/** The key belongs to the installation, not to a tenant. */
const TENANT = '';

const keys: Model<readonly LogKeyCreated['data'][], LogKeyCreated> = {
  initial: [],
  evolve: (state, event) => [...state, event.data],
};

/** Signs what the log says, with a key of the installation that is sealed in the log itself. */
@Injectable()
export class LogSigner {
  /** The key, once it has been opened: seals are signed with each batch of the log. */
  private signing: ((text: string) => Signature) | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  /** Signs with the newest key; the first signature makes one. */
  async sign(text: string): Promise<Signature> {
    return (await this.key())(text);
  }

  /** The newest key, as a function that signs with it. */
  async key(): Promise<(text: string) => Signature> {
    if (this.signing) return this.signing;
    const { key_id, private: sealed } = (await this.known()).at(-1) ?? (await this.create());
    const key = createPrivateKey(await this.vault.open(TENANT, subjectOf(key_id), 'private', sealed));
    this.signing = (text) => ({ key_id, signature: sign(null, Buffer.from(text), key).toString('base64url') });
    return this.signing;
  }

  /** Whether a signature is one of this installation's over the text. */
  async verify(text: string, signature: Signature): Promise<boolean> {
    return isSignedBy(await this.publicKeys(), text, signature);
  }

  /** All public keys, oldest first. */
  async publicKeys(): Promise<PublicKey[]> {
    return (await this.known()).map(({ key_id, public: key }) => ({ ...key, kid: key_id, alg: 'EdDSA', use: 'sig' }));
  }

  private async known(): Promise<readonly LogKeyCreated['data'][]> {
    return (await load(this.store, keys, STREAM)).state;
  }

  private async create(): Promise<LogKeyCreated['data']> {
    const key_id = newId();
    const pair = generateKeyPairSync('ed25519');
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const data: LogKeyCreated['data'] = {
      key_id,
      public: pair.publicKey.export({ format: 'jwk' }),
      private: await this.vault.seal(TENANT, subjectOf(key_id), 'private', pem),
    };
    const first = (state: readonly LogKeyCreated['data'][]): LogKeyCreated[] =>
      state.length > 0 ? [] : [{ type: 'LogKeyCreated', data }];
    return (await handle(this.store, keys, STREAM, first, { actor: 'system:audit' })).state.at(-1)!;
  }
}

/** Whether a signature over the text is of one of these keys. */
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
