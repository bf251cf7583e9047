import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '@fairlead/postgres';

/** The admin key of the installation, which has every scope. */
export interface AdminKey {
  readonly text: string;
  /** The file that contains the key; absent when the key came from FAIRLEAD_API_KEY. */
  readonly file?: string;
  /** True when this start generated the key. */
  readonly isNew: boolean;
}

/** The form of a key in the settings. A file that was cut off by a power failure contains less, or NUL characters. */
const WHOLE = /^[!-~]{20,256}$/;

/** Returns the key of the settings, or the one in the data directory, which is generated when it does not exist. */
export function adminKey({ apiKey, dataDir }: { readonly apiKey?: string; readonly dataDir: string }): AdminKey {
  if (apiKey !== undefined) return { text: apiKey, isNew: false };
  const file = join(dataDir, 'api-key');
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (WHOLE.test(kept)) return { text: kept, file, isNew: false };
  const text = `fairlead_${randomBytes(24).toString('base64url')}`;
  writeDurably(file, `${text}\n`);
  return { text, file, isNew: true };
}
