import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quotedAlways as quoted } from './recipes/source-tree';

/** A command with its environment. */
export interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The user that a program runs as; its own when the server is not root. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Folders of a deployment that its commands write; beside them are those of its builds. */
export const OWN_FOLDERS = ['data', 'state', 'proof', 'tmp', 'shm', 'home'];
/** Folders for short-lived files that every program expects to be able to write. */
export const SHORT_LIVED = ['/tmp', '/var/tmp'];
/** A file system in memory for what does not fit into the folders of a deployment. */
export const SMALL = '-t tmpfs -o size=64m,nosuid,nodev';
export const PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Time that a trial may take (ms), on a machine that has much else to do. */
export const TRIAL_MS = 60_000;
/**
 * Only bash can close files with numbers above 9; in another shell, such a file makes the command fail. Without the
 * option, bash reads the .bashrc of its user where its standard input is a socket, as it is here.
 */
export const SHELL = existsSync('/bin/bash') ? ['/bin/bash', '--norc'] : ['/bin/sh'];
/** A file that the server was started with could lead out of the namespaces, if it is a folder. */
export const CLOSE = `
for n in $(ls /proc/self/fd); do
  [ "$n" -le 2 ] || eval "exec $n>&-"
done`;
/** Capabilities are needed for the mounts only. Setuid programs, such as sudo, have no effect afterwards. */
export const DROPPED = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];
/** Prefix of the variables of a command until it is confined: what runs before must not heed them, such as LD_PRELOAD. */
const LATER = '_FAIRLEAD_';
/** A variable with the names of these. */
const NAMES = '_FAIRLEAD';
/** Gives a command its variables. */
export const RESTORE = `
for ${NAMES} in $${NAMES}; do
  eval "command export $${NAMES}=\\"\\$${LATER}$${NAMES}\\"; unset ${LATER}$${NAMES}"
done
unset ${NAMES}`;

/** The environment from which RESTORE makes that of a command. */
export function later(env: Command['env']): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
  const all = named.map(([name, value]) => [LATER + name, value] as const);
  return { ...Object.fromEntries(all), PATH, [NAMES]: named.map(([name]) => name).join(' ') };
}

/**
 * Makes all that is mounted by now read-only, except at paths that match `patterns` of the shell and file systems of
 * these types. Flags that a mount has must stay: the system refuses to take them away. `otherwise` follows a mount that
 * stays as it is.
 */
export function readOnly(patterns: readonly string[], types: readonly string[] = [], otherwise = 'exit 1'): string {
  return `
while read -r id parent device root at flags rest; do
  at=$(printf %b "$at"); type=\${rest#*- }
  case $at in ${patterns.join('|')}) continue;; esac
  case $flags in ro|ro,*) continue;; esac
  case \${type%% *} in ${["''", ...types].join('|')}) continue;; esac
  mount -o "remount,bind,ro\${flags#rw}" "$at" || ${otherwise}
done < /proc/self/mountinfo`;
}

/** Files and folders of Node.js and npm, where they are not of the system; they may be below the home directory. */
export function node(): string[] {
  const folder = dirname(process.execPath);
  if (basename(folder) !== 'bin') return [process.execPath];
  const others = ['lib/node_modules', 'include/node', 'etc/npmrc'].map((name) => join(dirname(folder), name));
  return [folder, ...others.filter(existsSync)];
}

export function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === '/' || path === folder || path.startsWith(`${folder}/`));
}

export function mount(what: string, at: string): string {
  return `mount ${what} ${quoted(at)}`;
}

/** Shows a folder, a file, or a link of the system at a path below another one. */
export function bind(from: string, path: string, below = ''): string {
  const at = join('/', below, path);
  const found = lstatSync(path);
  const parent = `mkdir -p ${quoted(dirname(at))}`;
  if (found.isSymbolicLink()) return `${parent}; ln -s ${quoted(readlinkSync(path))} ${quoted(at)}`;
  if (found.isDirectory()) return `mkdir -p ${quoted(at)}; ${mount(`--rbind ${quoted(from)}`, at)}`;
  return `${parent}; [ -e ${quoted(at)} ] || : > ${quoted(at)}; ${mount(`--bind ${quoted(from)}`, at)}`;
}
