import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Usage } from '../failure';

/** Settings that `fairlead key save` keeps. */
interface Profile {
  readonly url?: string;
  readonly key?: string;
  readonly workspace?: string;
}

export function profileFile(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'fairlead', 'config.json');
}

/** The kept profile, empty when there is none. @throws Usage when the file cannot be read */
export function readProfile(env: NodeJS.ProcessEnv): Profile {
  const file = profileFile(env);
  if (!existsSync(file)) return {};
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const { url, key, workspace } = (kept ?? {}) as Record<string, unknown>;
    const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
    return { url: text(url), key: text(key), workspace: text(workspace) };
  } catch (error) {
    throw new Usage(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Keeps a profile so that only the user can read it. Answers the file. */
export function writeProfile(env: NodeJS.ProcessEnv, profile: Profile): string {
  const file = profileFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600, flush: true });
  chmodSync(beside, 0o600);
  renameSync(beside, file);
  return file;
}
