import { type LeftOut, SourceRules } from '../../../../../cli/src/deployments/source-rules';

/** A file or a folder that was chosen in the browser; one of the two members is there. */
export interface Entry {
  readonly name: string;
  readonly file?: () => Promise<File>;
  readonly entries?: () => Promise<readonly Entry[]>;
}

/** A file of a source, by its path in it. */
export interface SourceFile {
  readonly path: string;
  readonly file: File;
}

/** The files of a folder that are sent, in order, and those that are not. */
export interface SourceFiles {
  readonly files: readonly SourceFile[];
  readonly leftOut: readonly LeftOut[];
  readonly bytes: number;
}

/** Bytes of a source that is unpacked, and its files. */
const MOST_BYTES = 1024 ** 3;
const MOST_FILES = 20_000;

/**
 * Finds the files of a folder that belong to its source, by the rules of the command line.
 * @throws Error in a sentence when nothing is left, or too much
 */
export async function sourceFiles(folder: Entry): Promise<SourceFiles> {
  const files: SourceFile[] = [];
  const leftOut: LeftOut[] = [];
  let bytes = 0;
  const walk = async (entries: readonly Entry[], within: string, rules: SourceRules): Promise<void> => {
    for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      const shown = entry.entries ? `${path}/` : path;
      const because = rules.because(shown);
      if (entry.entries && (because === undefined || rules.mayHold(shown))) {
        const inner = await entry.entries();
        await walk(inner, path, rules.within(path, await textOf(inner, '.gitignore')));
      } else if (because !== undefined) leftOut.push({ path: shown, because });
      else {
        const file = await entry.file!();
        bytes += file.size;
        files.push({ path, file });
        if (files.length > MOST_FILES || bytes > MOST_BYTES) throw new Error(`${folder.name} ${TOO_MUCH}`);
      }
    }
  };
  const entries = await folder.entries!();
  const [docker, git] = [await textOf(entries, '.dockerignore'), await textOf(entries, '.gitignore')];
  await walk(entries, '', SourceRules.of(docker, git));
  if (files.length === 0) throw new Error(`There is nothing to deploy in ${folder.name}.`);
  return { files, leftOut, bytes };
}

const TOO_MUCH = `has more than ${MOST_FILES.toLocaleString('en')} files or 1 GiB. Name in .gitignore what is no part of its source.`;

async function textOf(entries: readonly Entry[], name: string): Promise<string> {
  const file = await entries.find((entry) => entry.name === name)?.file?.();
  return (await file?.text()) ?? '';
}

/** The folder that was chosen with a field for folders. @throws Error in a sentence where browsers have none */
export function chosenFolder(files: Iterable<File>): Entry {
  interface Tree {
    readonly folders: Map<string, Tree>;
    readonly files: File[];
  }
  const root: Tree = { folders: new Map(), files: [] };
  for (const file of files) {
    let at = root;
    for (const name of file.webkitRelativePath.split('/').slice(0, -1)) {
      if (!at.folders.has(name)) at.folders.set(name, { folders: new Map(), files: [] });
      at = at.folders.get(name)!;
    }
    at.files.push(file);
  }
  const entry = (name: string, tree: Tree): Entry => ({
    name,
    entries: async () => [
      ...[...tree.folders].map(([inner, one]) => entry(inner, one)),
      ...tree.files.map((file) => ({ name: file.name, file: async () => file })),
    ],
  });
  const [chosen] = root.folders;
  if (!chosen) throw new Error('Nothing was chosen, or this browser cannot choose folders: choose an archive.');
  return entry(...chosen);
}

/** An entry that was dropped on the page, of which nothing is read yet. */
export function droppedEntry(dropped: FileSystemEntry): Entry {
  const { name } = dropped;
  if (dropped.isFile) {
    return {
      name,
      file: () => new Promise((resolve, reject) => (dropped as FileSystemFileEntry).file(resolve, reject)),
    };
  }
  const entries = async () => {
    const reader = (dropped as FileSystemDirectoryEntry).createReader();
    const all: FileSystemEntry[] = [];
    for (;;) {
      // A reader answers some at a time, and none at the end.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return all.map(droppedEntry);
      all.push(...some);
    }
  };
  return { name, entries };
}
