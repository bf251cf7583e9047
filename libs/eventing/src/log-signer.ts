import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, sign, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DomainEvent } from './event';
import { EventStore } from './event-store';
import { handle, load } from './handle';
import type { Model } from './model';
import { newId } from './new-id';
import { type Sealed, Vault } from './vault';

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
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  /** Signs with the newest key; the first signature makes one. */
  async sign(text: string): Promise<Signature> {
    const newest = (await this.known()).at(-1) ?? (await this.create());
    const pem = await this.vault.open(TENANT, subjectOf(newest.key_id), 'private', newest.private);
    const signature = sign(null, Buffer.from(text), createPrivateKey(pem)).toString('base64url');
    return { key_id: newest.key_id, signature };
  }

  /** Whether a signature is one of this installation's over the text. */
  async verify(text: string, { key_id, signature }: Signature): Promise<boolean> {
    const key = (await this.known()).find((known) => known.key_id === key_id);
    if (!key) return false;
    const publicKey = createPublicKey({ key: key.public, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
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

function subjectOf(keyId: string): string {
  return `logKey:${keyId}`;
}
