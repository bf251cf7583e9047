import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(__dirname, '../../../..');

/** Paths of the files in a folder whose names match, without what was installed, built or generated. */
export function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist|generated|\..*)$/.test(entry.name) ? [] : filesIn(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}
