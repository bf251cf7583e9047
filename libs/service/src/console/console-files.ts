import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { Asset } from '@fairlead/api';

/** The directory with the build of the console. */
const CONSOLE_FOLDER = resolve(__dirname, '../../../../apps/console/dist');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};
/** Content codings and the endings of their files, the preferred one first. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A file of the console, uncompressed and compressed. */
export interface ConsoleFile {
  readonly plain: Asset;
  readonly coded: readonly { readonly coding: string; readonly asset: Asset }[];
}

/** The files of the console by their paths, such as `/index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * Returns whether a process with these settings serves the console; `missing` when it should and the console is not
 * built.
 */
export function consoleState({ console }: { readonly console: boolean }): 'served' | 'off' | 'missing' {
  if (!console) return 'off';
  return existsSync(join(CONSOLE_FOLDER, 'index.html')) ? 'served' : 'missing';
}

/**
 * Reads every file of a build into memory, so that a later build does not mix versions; undefined when there is no
 * build. Files of other types, such as source maps, are left out.
 */
export function readConsole(folder = CONSOLE_FOLDER): ConsoleFiles | undefined {
  if (!existsSync(join(folder, 'index.html'))) return undefined;
  const files = new Map<string, ConsoleFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(resolve(folder).length).replaceAll('\\', '/');
    const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    const asset = (name: string) => new Asset(readFileSync(name), type, caching);
    const coded = CODINGS.filter(([, ending]) => existsSync(file + ending));
    files.set(path, {
      plain: asset(file),
      coded: coded.map(([coding, ending]) => ({ coding, asset: asset(file + ending) })),
    });
  }
  return files;
}
