import { posix } from 'node:path';
import { isObject } from '@fairlead/schema';

/** The source of a revision, as far as it says how to build and start it. Paths are relative to its root. */
export interface SourceTree {
  readonly files: ReadonlySet<string>;
  /** The text of a file; undefined when there is none, or it is too long. */
  readonly text: (path: string) => Promise<string | undefined>;
}

export interface Command {
  readonly run: string;
  /** The part of it that tells what it does; absent: all of it. */
  readonly shown?: string;
  /** Consequence of a failure: a sentence for the log, and another command where there is one. */
  readonly otherwise?: { readonly says: string; readonly run?: string };
  readonly hint?: string;
}

export type Members = Readonly<Record<string, unknown>>;

/** The source names nothing that can be built or started; the message is a sentence. */
export class NoRecipe extends Error {}

export function upwards(folder: string): string[] {
  const above = folder === '.' ? [] : upwards(posix.dirname(folder));
  return [folder, ...above];
}

export function hasFolder({ files }: SourceTree, folder: string): boolean {
  if (folder === '.') return true;
  for (const file of files) if (file.startsWith(`${folder}/`)) return true;
  return false;
}

/** The object in a JSON file of the source; undefined when there is no such file. @throws NoRecipe when it holds no object */
export async function readObject(tree: SourceTree, path: string): Promise<Members | undefined> {
  const text = await tree.text(path);
  return text === undefined ? undefined : parseObject(path, text);
}

export function parseObject(path: string, text: string): Members {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new NoRecipe(`${path} is not a JSON object.`);
}

export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

/** A word for a shell that holds exactly this text. */
export function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : quotedAlways(text);
}

export function quotedAlways(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function inFolder(from: string, to: string, command: string): string {
  const path = posix.relative(from, to);
  return path === '' ? command : `cd ${quoted(path)} && ${command}`;
}

/** Where a deployment keeps packages that are no part of its source: a folder of its home, as a shell writes it. */
export function ownFolder(name: string): string {
  return `"$HOME/.fairlead/${name}"`;
}

/**
 * Installs a package of npm into such a folder, once for all builds. It takes the settings of the source's `.npmrc`. With
 * `--prefix`, npm would not read the settings of the machine.
 */
export function installOwn(name: string, spec: string, check = ''): Command {
  const fresh = ownFolder(`${name}.new`);
  const install = `npm install --no-audit --no-fund ${quoted(spec)}`;
  const steps = [
    `rm -rf ${fresh}`,
    `mkdir -p ${fresh}`,
    `{ cp .npmrc ${fresh} 2> /dev/null || :; }`,
    `( cd ${fresh} && echo '{}' > package.json && ${install} )`,
    ...(check === '' ? [] : [check]),
    `mv ${fresh} ${ownFolder(name)}`,
  ];
  return { run: `[ -d ${ownFolder(name)} ] || { ${steps.join(' && ')}; }`, shown: install };
}
