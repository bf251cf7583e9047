import type { Secret, SecretReference } from './deployment-events';
import { InvalidDeployment } from './deployment.errors';

/** Text that answers show instead of a secret's value; sent back in a PATCH it keeps the stored value. */
export const MASK = '********';

/** Set by the platform in every deployment: a secret of such a name would never be seen. */
const RESERVED = new Set(['PORT', 'DATABASE_URI', 'POSTGRES_URI', 'REDIS_URI']);
const RESERVED_PREFIX = 'FAIRLEAD_';
const VARIABLE = /^[A-Za-z_]\w*$/;
/** Most bytes of `NAME=value`, a limit of Linux, and of all values together, the limit of a Secret of Kubernetes. */
const MOST_BYTES = 128 * 1024 - 1;
const MOST_BYTES_OF_ALL = 1024 ** 2;

/** Names of Secrets and of their keys, as Kubernetes defines them. */
const OBJECT_NAME = /^[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*$/;
const SECRET_KEY = /^(?!\.\.?$|\.\.)[\w.-]+$/;
const LONGEST_OBJECT_NAME = 253;

interface Named {
  readonly name: string;
}

/** A secret as a command brings it: sealed outside, or only its name to keep the stored value. */
export type OfferedSecret = Secret | { readonly name: string };

/** @throws InvalidDeployment for a name that no environment variable has, that is used twice, or that the platform sets. */
function checkSecretNames(secrets: readonly Named[], member = 'secrets'): void {
  const seen = new Set<string>();
  for (const { name } of secrets) {
    if (name === '') throw new InvalidDeployment(`A name in ${member} must not be empty.`);
    if (!VARIABLE.test(name)) {
      throw new InvalidDeployment(
        `The name '${name}' in ${member} must be that of an environment variable: letters, digits and _, no digit first.`,
      );
    }
    if (RESERVED.has(name) || name.startsWith(RESERVED_PREFIX)) {
      throw new InvalidDeployment(`The name '${name}' in ${member} is reserved.`);
    }
    if (seen.has(name)) throw new InvalidDeployment(`The name '${name}' appears more than once in ${member}.`);
    seen.add(name);
  }
}

/** @throws InvalidDeployment as `checkSecretNames`, and for values that no program could be started with. */
export function checkSecrets(secrets: readonly { readonly name: string; readonly value: string }[]): void {
  checkSecretNames(secrets);
  let all = 0;
  for (const { name, value } of secrets) {
    const bytes = Buffer.byteLength(value);
    all += bytes;
    if (name.length + 1 + bytes > MOST_BYTES) {
      throw new InvalidDeployment(
        `The value of '${name}' in secrets has ${bytes} bytes: name and value of an environment variable have at most ${MOST_BYTES - 1}.`,
      );
    }
  }
  if (all > MOST_BYTES_OF_ALL) {
    throw new InvalidDeployment(`The values in secrets have ${all} bytes together: at most ${MOST_BYTES_OF_ALL}.`);
  }
}

/**
 * @throws InvalidDeployment for names that secrets may not have either, for one that a secret has already, and for a
 * Secret or key that no cluster has.
 */
export function checkReferences(references: readonly SecretReference[] | null, secrets: readonly Named[]): void {
  checkSecretNames(references ?? [], 'secret_references');
  for (const { name, secret_name, secret_key } of references ?? []) {
    if (secret_name.length > LONGEST_OBJECT_NAME || !OBJECT_NAME.test(secret_name)) {
      throw new InvalidDeployment(
        `secret_name of '${name}' in secret_references must be the name of a Secret of Kubernetes: lower-case letters, digits, hyphens and dots.`,
      );
    }
    if (secret_key.length > LONGEST_OBJECT_NAME || !SECRET_KEY.test(secret_key)) {
      throw new InvalidDeployment(
        `secret_key of '${name}' in secret_references must be a key of a Secret of Kubernetes: letters, digits, hyphens, dots and underscores.`,
      );
    }
  }
  const names = new Set(secrets.map(({ name }) => name));
  const taken = references?.find(({ name }) => names.has(name));
  if (taken) throw new InvalidDeployment(`The name '${taken.name}' is in secrets and in secret_references.`);
}

/**
 * The whole new list, in the order offered, with kept values taken from the stored list.
 * @throws InvalidDeployment when there is no stored value to keep.
 */
export function replaceSecrets(stored: readonly Secret[], offered: readonly OfferedSecret[]): readonly Secret[] {
  checkSecretNames(offered);
  const known = new Map(stored.map((secret) => [secret.name, secret]));
  return offered.map((secret) => {
    if ('sealed' in secret) return secret;
    const kept = known.get(secret.name);
    if (!kept) throw new InvalidDeployment(`The secret '${secret.name}' in secrets has no stored value to keep.`);
    return kept;
  });
}

/** True when two lists hold the same names with the same values; their order does not count. */
export function sameSecrets(a: readonly Secret[], b: readonly Secret[]): boolean {
  if (a === b) return true;
  const digests = new Map(b.map(({ name, digest }) => [name, digest]));
  return a.length === b.length && a.every(({ name, digest }) => digests.get(name) === digest);
}
