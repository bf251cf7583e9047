import { execFile } from 'node:child_process';
import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brokenFile, Failure, Usage } from '../failure';
import { type LeftOut, SourceRules } from './source-rules';

/** The files of a folder that are sent, by their paths, and those that are not. */
export interface SourceFiles {
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Why a link is left out: a link may lead to files that are no part of the source. */
export const LINK = 'a link';

/**
 * Finds the files of a folder that belong to its source, in order: without those that the `.gitignore` of each folder or
 * `.dockerignore` names. @throws Usage when the folder cannot be read, or nothing in it is left
 */
export async function sourceFiles(folder: string): Promise<SourceFiles> {
  const files: string[] = [];
  const leftOut: LeftOut[] = [];
  const gitignore = (within: string) => textOf(join(folder, within, '.gitignore'));
  const walk = async (within: string, rules: SourceRules): Promise<void> => {
    for (const entry of await entriesOf(join(folder, within))) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      const shown = entry.isDirectory() ? `${path}/` : path;
      const because = rules.because(shown);
      const isEntered = entry.isDirectory() && (because === undefined || rules.mayHold(shown));
      if (isEntered) await walk(path, rules.within(path, await gitignore(path)));
      else if (because !== undefined) leftOut.push({ path: shown, because });
      else if (entry.isFile()) files.push(path);
      else leftOut.push({ path, because: entry.isSymbolicLink() ? LINK : 'neither a file nor a folder' });
    }
  };
  const rules = SourceRules.of(await textOf(join(folder, '.dockerignore')), await gitignore(''));
  await walk('', rules);
  if (files.length === 0) throw new Usage(`There is nothing to deploy in ${folder}.`);
  return { files, leftOut };
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
