import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brokenFile, EXIT, Failure, Usage } from '../failure';
import { readProfile } from './profile';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly url?: string;
  readonly key?: string;
  readonly workspace?: string;
  readonly timeout?: number;
  readonly json?: boolean;
  readonly jq?: string;
  readonly color: boolean;
}

/** Where the service is and who asks. */
export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** Id or name. */
  readonly workspace?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:4600';
const LOCAL = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The connection that options, environment and the kept profile ask for, in this order. A key that is kept goes only to
 * the address it was kept for; a local service's own key file is used when there is no other key.
 * @throws Usage for an address that is none, Failure when no key is known.
 */
export function connectionOf(options: GlobalOptions, env: NodeJS.ProcessEnv): Connection {
  const { url, key, workspace } = known(options, env);
  if (key === undefined) {
    throw new Failure(`No key for ${url}: set FAIRLEAD_KEY or --key, or keep one with "fairlead login".`, EXIT.refused);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Usage('The key holds characters that no key has.');
  return { url, key, workspace };
}

/** The parts of the connection that are known; the address always is. @throws Usage for an address that is none */
export function known(options: GlobalOptions, env: NodeJS.ProcessEnv): Omit<Connection, 'key'> & { key?: string } {
  const profile = readProfile(env);
  const url = checkedUrl(options.url ?? nonEmpty(env.FAIRLEAD_URL) ?? profile.url ?? DEFAULT_URL);
  const kept = profile.url !== undefined && checkedUrl(profile.url) === url ? profile : {};
  const key = options.key ?? nonEmpty(env.FAIRLEAD_KEY) ?? kept.key ?? localKey(url, env);
  return { url, key, workspace: options.workspace ?? nonEmpty(env.FAIRLEAD_WORKSPACE) ?? kept.workspace };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new Usage(`${JSON.stringify(text)} is no address of a service; it looks like ${DEFAULT_URL}.`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The key that `npm start` keeps: in the data directory of this folder, or of the checkout this program is part of. */
function localKey(url: string, env: NodeJS.ProcessEnv): string | undefined {
  if (!LOCAL.has(new URL(url).hostname)) return undefined;
  const folders = nonEmpty(env.FAIRLEAD_DATA_DIR)
    ? [resolve(env.FAIRLEAD_DATA_DIR!)]
    : [resolve('.fairlead'), resolve(__dirname, '../../../..', '.fairlead')];
  for (const folder of folders) {
    const file = join(folder, 'api-key');
    if (!existsSync(file)) continue;
    try {
      return nonEmpty(readFileSync(file, 'utf8').trim());
    } catch (error) {
      throw new Failure(`The key in ${file} cannot be read: ${brokenFile(error)}.`, EXIT.refused);
    }
  }
  return undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
