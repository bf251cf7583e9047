import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';

/** Limits of an archive that is read. */
export interface ArchiveLimits {
  /** Files and links. */
  readonly files: number;
  /** Bytes of the whole archive when it is unpacked. */
  readonly bytes: number;
}

/** A file of an archive, or a link, of which `bytes` is 0 and `sha256` that of the place it leads to. */
export interface ArchiveFile {
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly kind: 'text' | 'binary' | 'link';
}

/** Content of an archive. */
export interface ArchiveContent {
  /** Files by path, of which the last one counts where several have one path, as when it is unpacked. */
  readonly files: ReadonlyMap<string, ArchiveFile>;
  /** Bytes of the wanted file; undefined when there is none of that path, or it is too large. */
  readonly wanted?: Buffer;
}

/** An archive cannot be read as a whole; the message completes "The archive of revision … ". */
export class UnreadableArchive extends Error {
  override name = 'UnreadableArchive';
}

/** Bytes of the largest file of which the text is compared. */
export const LARGEST_TEXT = 512 * 1024;
const LONGEST_PATH = 4096;
/** Characters of all paths together: they are kept in memory, and compress to nearly nothing. */
const MOST_PATHS = 4 * 1024 * 1024;
/** Git looks for a zero byte in as many bytes to tell binary files from texts. */
const LOOKED_AT = 8000;

/**
 * Reads a gzip tarball without unpacking it anywhere. Memory is bounded by the limits, however an archive is made.
 * @throws UnreadableArchive when it is broken or beyond the limits, and what `source` throws
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
  wanted?: string,
): Promise<ArchiveContent> {
  const files = new Map<string, ArchiveFile>();
  let content: Buffer | undefined;
  let paths = 0;
  const failures: Error[] = [];
  const fail = (text: string) => failures.push(new UnreadableArchive(text));
  // Tools write attributes of files, such as the owner, before each file. Those of 1 MB and more are skipped.
  const parser = new Parser({ strict: true });
  parser.on('error', (error: Error) => fail(`cannot be read: ${error.message}`));
  parser.on('entry', (entry: ReadEntry) => {
    const path = entry.path.replace(/^(?:\.\/+)+/, '');
    if (entry.type === 'Directory' || path === '') return void entry.resume();
    if (path.length > LONGEST_PATH) fail(`has a path of more than ${LONGEST_PATH} characters.`);
    paths += path.length;
    if (paths > MOST_PATHS) fail(`has paths of more than ${MOST_PATHS} characters together.`);
    if (files.size >= limits.files) fail(`has more than ${limits.files} files.`);
    if (failures.length > 0) return void entry.resume();
    take(entry, path === wanted, (file, bytes) => {
      files.set(path, file);
      if (path === wanted) content = bytes;
    });
  });
  await send(source, parser, { limits, hasFailed: () => failures.length > 0 });
  if (failures[0]) throw failures[0];
  return { files, wanted: content };
}

/** Reads one entry to its end and hands over what is known of it then. */
function take(entry: ReadEntry, isWanted: boolean, done: (file: ArchiveFile, bytes?: Buffer) => void): void {
  const isFile = /^(?:Old|Contiguous)?File$/.test(entry.type);
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let [bytes, isText] = [0, true];
  entry.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    if (bytes < LOOKED_AT && chunk.subarray(0, LOOKED_AT - bytes).includes(0)) isText = false;
    bytes += chunk.length;
    // The parser may use the memory of a chunk again.
    if (isWanted && bytes <= LARGEST_TEXT) kept.push(Buffer.from(chunk));
  });
  entry.on('end', () => {
    if (!isFile) hash.update(`${entry.type} ${entry.linkpath ?? ''}`);
    const kind = !isFile ? 'link' : isText ? 'text' : 'binary';
    done({ bytes, sha256: hash.digest('hex'), kind }, bytes <= LARGEST_TEXT ? Buffer.concat(kept) : undefined);
  });
}

interface Sending {
  readonly limits: ArchiveLimits;
  readonly hasFailed: () => boolean;
}

/** Unzips an archive into a parser, no faster than that reads, and ends at the first failure. */
async function send(source: AsyncIterable<Uint8Array>, parser: Parser, { limits, hasFailed }: Sending): Promise<void> {
  const ended = once(parser, 'end');
  ended.catch(() => undefined);
  const unzipped = createGunzip();
  let ofSource: unknown;
  const compressed = Readable.from(source).on('error', (error) => unzipped.destroy((ofSource = error)));
  let bytes = 0;
  try {
    for await (const chunk of compressed.pipe(unzipped) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.bytes) throw new UnreadableArchive(`has more than ${limits.bytes} bytes when it is unpacked.`);
      if (hasFailed()) return;
      if (!parser.write(chunk)) await once(parser, 'drain');
    }
  } catch (error) {
    if (error === ofSource || error instanceof UnreadableArchive) throw error;
    throw new UnreadableArchive(`cannot be unpacked: ${(error as Error).message}`);
  } finally {
    compressed.destroy();
    unzipped.destroy();
  }
  parser.end();
  if (!hasFailed()) await ended;
}
