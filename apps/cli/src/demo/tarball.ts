const BLOCK = 512;
const ascii = new TextEncoder();

/** A gzip tarball (ustar, POSIX.1-1988) of small files whose names are plain. */
export async function tarball(files: Readonly<Record<string, string>>): Promise<Uint8Array<ArrayBuffer>> {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = ascii.encode(text);
    return [header(name, content.length), content, new Uint8Array(-content.length & (BLOCK - 1))];
  });
  const whole = new Blob([...blocks, new Uint8Array(2 * BLOCK)]);
  const packed = whole.stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

function header(name: string, size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(ascii.encode(text), at);
  put(0, name);
  for (const [at, value] of [
    [100, '0000644'],
    [108, '0000000'],
    [116, '0000000'],
    [124, size.toString(8).padStart(11, '0')],
    [136, '00000000000'],
    // The sum is made with blanks in its place.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\0' + '00'],
  ] as const) {
    put(at, value);
  }
  const sum = block.reduce((all, byte) => all + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}
