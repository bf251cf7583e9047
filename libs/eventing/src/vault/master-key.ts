import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

interface MasterKey {
  /** Public identifier: 16 hexadecimal digits of an HMAC under the key. */
  readonly id: string;
  readonly key: Buffer;
}

/** The current key, which encrypts data keys, and former ones, which still decrypt them. */
export interface MasterKeys {
  readonly current: MasterKey;
  readonly older: readonly MasterKey[];
}

/** A setting or file contains no valid master keys. The message never contains its content. */
export class MasterKeyProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MasterKeyProblem';
  }
}

/**
 * Reads master keys separated by commas or white space: the first is the current one, the others are older ones.
 * Each is 32 random bytes as 64 hexadecimal digits, base64 or base64url.
 * @throws MasterKeyProblem naming `source`.
 */
export function parseMasterKeys(text: string, source: string): MasterKeys {
  const [current, ...older] = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => masterKey(part, source));
  if (!current) throw new MasterKeyProblem(`${source} holds no master key.`);
  return { current, older };
}

/**
 * Reads master keys from a file, which is made with one new key (mode 0600) when it does not exist. Processes that
 * start at the same time read the same key. @throws MasterKeyProblem when the file has other content.
 */
export async function masterKeyFile(path: string): Promise<MasterKeys> {
  if (!existsSync(path)) await createKeyFile(path);
  return parseMasterKeys(readFileSync(path, 'utf8'), `The file ${path}`);
}

function masterKey(text: string, source: string): MasterKey {
  const key = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined;
  if (key?.length !== 32) {
    throw new MasterKeyProblem(
      `${source} must hold 32 bytes as base64, base64url or 64 hexadecimal digits, as \`openssl rand -base64 32\` prints them.`,
    );
  }
  return { id: createHmac('sha256', key).update('fairlead master key id').digest('hex').slice(0, 16), key };
}

/** Makes the file. It gets its name only when its content is on the disk, because a lost master key means lost data. */
async function createKeyFile(path: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    unlinkSync(unfinished);
  }
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
