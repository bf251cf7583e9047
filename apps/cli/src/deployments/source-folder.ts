import { execFile } from 'node:child_process';
import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { brokenFile, Failure, Usage } from '../failure';

/** What is never part of a source: what tools make of it, and the values of secrets. */
const NEVER = [
  ...['.git/', 'node_modules/', '.venv/', 'venv/', '__pycache__/', '.tox/', '.mypy_cache/', '.langgraph_api/'],
  ...['.env', '.env.*', '!.env.example'],
];

/** Patterns that hold in one folder of the source and below. */
interface Rules {
  /** The folder, without a slash at its end; empty for the source itself. */
  readonly folder: string;
  readonly patterns: Ignore;
}

/** What of a folder is sent: files by their paths, and links, which are not. */
interface SourceFiles {
  readonly files: readonly string[];
  readonly links: readonly string[];
}

/**
 * Finds the files of a folder that belong to its source, in order. As Git does, it leaves out what the `.gitignore` of
 * each folder names; what `.dockerignore` names is left out by the same patterns, as the LangGraph command line does.
 * @throws Usage when the folder cannot be read, or nothing in it is left
 */
export async function sourceFiles(folder: string): Promise<SourceFiles> {
  const found = { files: [] as string[], links: [] as string[] };
  const docker = await textOf(join(folder, '.dockerignore'));
  const root: Rules = { folder: '', patterns: ignore().add(NEVER).add(docker) };
  const walk = async (within: string, above: readonly Rules[]): Promise<void> => {
    const own = { folder: within, patterns: ignore().add(await textOf(join(folder, within, '.gitignore'))) };
    const rules = [own, ...above];
    for (const entry of await entriesOf(join(folder, within))) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      if (isLeftOut(rules, entry.isDirectory() ? `${path}/` : path)) continue;
      if (entry.isDirectory()) await walk(path, rules);
      else if (entry.isFile()) found.files.push(path);
      else if (entry.isSymbolicLink()) found.links.push(path);
    }
  };
  await walk('', [root]);
  if (found.files.length === 0) throw new Usage(`There is nothing to deploy in ${folder}.`);
  return found;
}

/** Packs files of a folder into a gzip tarball. @throws Failure when the program `tar` fails or is missing */
export async function pack(folder: string, files: readonly string[], archive: string): Promise<void> {
  // macOS would add a file of its own beside each one.
  const env = { ...process.env, COPYFILE_DISABLE: '1' };
  const args = ['-czf', archive, '-C', folder, '--null', '-T', '-'];
  await new Promise<void>((resolve, reject) => {
    const child = execFile('tar', args, { env }, (error, _, said) => {
      if (error) reject(new Failure(`The program tar could not pack ${folder}: ${said.trim() || error.message}`));
      else resolve();
    });
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(files.map((file) => `${file}\0`).join(''));
  });
}

/** The innermost folder that has a pattern for a path decides. */
function isLeftOut(rules: readonly Rules[], path: string): boolean {
  for (const { folder, patterns } of rules) {
    const { ignored, unignored } = patterns.test(folder === '' ? path : path.slice(folder.length + 1));
    if (ignored || unignored) return ignored;
  }
  return false;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw new Usage(`${folder} cannot be read: ${brokenFile(error)}.`);
  }
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
