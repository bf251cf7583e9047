import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** An entry of an archive: its content, or the place that a link leads to. */
export type Entry = Buffer | string | { readonly link: string };

/** Returns an uncompressed tarball of these entries, in their order. */
export function tarball(entries: readonly (readonly [path: string, entry: Entry])[]): Buffer {
  const parts = entries.flatMap(([path, entry]) => {
    const isLink = typeof entry === 'object' && 'link' in entry;
    const content = isLink ? Buffer.alloc(0) : Buffer.from(entry);
    const type = isLink ? 'SymbolicLink' : path.endsWith('/') ? 'Directory' : 'File';
    const header = new Header({
      path,
      type,
      size: content.length,
      mode: 0o644,
      ...(isLink && { linkpath: entry.link }),
    });
    const block = Buffer.alloc(512);
    header.encode(block, 0);
    return [block, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** Returns a gzip tarball of files by path. */
export function archive(files: Readonly<Record<string, Entry>>): Buffer {
  return gzipSync(tarball(Object.entries(files)));
}
