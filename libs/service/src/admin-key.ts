import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '@fairlead/postgres';
import type { Settings } from './settings';

/** The key that may do everything. */
export interface AdminKey {
  readonly text: string;
  /** The file that holds it; absent when it came from FAIRLEAD_API_KEY. */
  readonly file?: string;
  /** True when this start made it. */
  readonly isNew: boolean;
}

/** As a setting must be; a file that a power cut has left holds less, or NUL characters. */
const WHOLE = /^[!-~]{20,256}$/;

/** The key of the settings, or the one in the data directory, which is made when it is not there. */
export function adminKey({ apiKey, dataDir }: Pick<Settings, 'apiKey' | 'dataDir'>): AdminKey {
  if (apiKey !== undefined) return { text: apiKey, isNew: false };
  const file = join(dataDir, 'api-key');
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (WHOLE.test(kept)) return { text: kept, file, isNew: false };
  const text = `fairlead_${randomBytes(24).toString('base64url')}`;
  writeDurably(file, `${text}\n`);
  return { text, file, isNew: true };
}
