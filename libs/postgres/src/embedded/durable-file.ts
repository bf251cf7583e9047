import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file for this user only (mode 0600) that is there whole or not at all, also after a power cut: its content is
 * on the disk before it has its name, and its name is when this returns. One that is there is replaced.
 */
export function writeDurably(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Writes the entries of a directory to the disk, if this user may read it. */
export function syncDirectory(path: string): void {
  let directory: number;
  try {
    directory = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return;
    throw error;
  }
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
