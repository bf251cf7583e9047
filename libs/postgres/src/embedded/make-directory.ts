import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from './durable-file';

/**
 * Makes a directory and those above it that are missing, for this user only; one that is there stays as it is. A new one
 * outlasts a power cut. Node's own
 * `recursive` never returns where nothing can be made, as below /proc. @throws the error of the file system
 */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
    syncDirectory(dirname(directory));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(directory))) throw error;
    makeDirectory(dirname(directory));
    makeDirectory(directory);
  }
}
