import { createTwoFilesPatch } from 'diff';
import {
  type ArchiveContent,
  type ArchiveFile,
  type ArchiveLimits,
  LARGEST_TEXT,
  readArchive,
  UnreadableArchive,
} from './archive-files';

type Kind = 'text' | 'large' | 'binary' | 'link' | 'secret';

/** A file in one of two sources; `sha256` is null for files of secrets, because short values can be guessed by it. */
interface Side {
  readonly bytes: number;
  readonly sha256: string | null;
}

/** A file that only one of two sources has, or that differs in them. */
interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Only of a `text`, the contents can be compared. */
  readonly kind: Kind;
  readonly from: Side | null;
  readonly to: Side | null;
}

/** All differences between the files of two sources, by path. */
export interface SourceDifference {
  readonly files: readonly FileChange[];
  /** Files that are the same in both; null when both revisions have one archive, which is not read then. */
  readonly unchanged: number | null;
}

/** The difference of one file; `patch` is null when the contents are not compared, or differ too much. */
export interface FileDifference extends FileChange {
  readonly patch: string | null;
}

/** The archives of two revisions, and the path of the file whose contents are compared; absent: all files are listed. */
export interface Comparison {
  readonly archives: readonly [AsyncIterable<Uint8Array>, AsyncIterable<Uint8Array>];
  readonly revisionIds: readonly [string, string];
  readonly limits: ArchiveLimits;
  readonly path?: string;
}

/** Names of files that usually hold the values of secrets. Their contents are never shown. */
const SECRET =
  /^(?:\.env(?:\..*)?|.*\.env|.*\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519).*|\.(?:npmrc|pypirc|netrc|pgpass|htpasswd|git-credentials|dockercfg)|_netrc|credentials(?:\..*)?|secrets?\.(?:json|ya?ml|toml|ini|txt)|service[-_]account.*\.json|kubeconfig|terraform\.tfvars|.*\.tfstate)$/i;

/** Longest time that a text is compared (ms), and the largest number of lines by which two may differ. */
const COMPARE_MS = 2000;
const MOST_EDITS = 5000;

/** Compares two archives. @throws UnreadableArchive, and what the archives throw when they are read */
export async function compareSources({
  archives,
  revisionIds,
  limits,
  path,
}: Comparison): Promise<SourceDifference | FileDifference | null> {
  const read = async (source: AsyncIterable<Uint8Array>, id: string) => {
    try {
      return await readArchive(source, limits, path);
    } catch (error) {
      if (!(error instanceof UnreadableArchive)) throw error;
      throw new UnreadableArchive(`The archive of revision ${id} ${error.message}`);
    }
  };
  const from = await read(archives[0], revisionIds[0]);
  const to = await read(archives[1], revisionIds[1]);
  const difference = differenceOf(from.files, to.files);
  if (path === undefined) return difference;
  const change = difference.files.find((file) => file.path === path);
  return change ? { ...change, patch: change.kind === 'text' ? patchOf(path, from, to) : null } : null;
}

function differenceOf(from: ReadonlyMap<string, ArchiveFile>, to: ReadonlyMap<string, ArchiveFile>): SourceDifference {
  const files: FileChange[] = [];
  let unchanged = 0;
  for (const path of [...new Set([...from.keys(), ...to.keys()])].sort()) {
    const [before, after] = [from.get(path), to.get(path)];
    if (before && after && before.sha256 === after.sha256 && before.kind === after.kind) unchanged++;
    else {
      const change = before && after ? 'changed' : after ? 'added' : 'removed';
      const kind = kindOf(path, [before, after]);
      files.push({ path, change, kind, from: sideOf(before, kind), to: sideOf(after, kind) });
    }
  }
  return { files, unchanged };
}

function sideOf(file: ArchiveFile | undefined, kind: Kind): Side | null {
  return file ? { bytes: file.bytes, sha256: kind === 'secret' ? null : file.sha256 } : null;
}

function kindOf(path: string, sides: readonly (ArchiveFile | undefined)[]): Kind {
  if (path.split('/').some((name) => SECRET.test(name))) return 'secret';
  const present = sides.filter((side) => side !== undefined);
  for (const kind of ['link', 'binary'] as const) if (present.some((side) => side.kind === kind)) return kind;
  return present.some(({ bytes }) => bytes > LARGEST_TEXT) ? 'large' : 'text';
}

/** Returns the difference of a text in the unified format; null when the two differ too much. */
function patchOf(path: string, from: ArchiveContent, to: ArchiveContent): string | null {
  const [before, after] = [from, to].map(({ wanted }) => wanted?.toString('utf8') ?? '') as [string, string];
  const names = [
    from.files.has(path) ? `a/${path}` : '/dev/null',
    to.files.has(path) ? `b/${path}` : '/dev/null',
  ] as const;
  const options = { context: 3, timeout: COMPARE_MS, maxEditLength: MOST_EDITS };
  return createTwoFilesPatch(...names, before, after, undefined, undefined, options) ?? null;
}
