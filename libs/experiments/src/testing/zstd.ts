/** A zstd frame of raw blocks, which every decoder takes. */
export function zstd(bytes: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])];
  const size = 100_000;
  for (let start = 0; start < bytes.length; start += size) {
    const block = bytes.subarray(start, start + size);
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | (start + size >= bytes.length ? 1 : 0), 0, 3);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
}
