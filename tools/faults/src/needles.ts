/** Texts that must not be found, in the forms in which they could have been written down. */
export class Needles {
  private readonly byStart = new Map<number, { readonly bytes: Buffer; readonly secret: string }[]>();

  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) for (const bytes of forms(secret)) this.add(bytes, secret);
  }

  /** Secrets that the bytes contain. */
  in(hay: Buffer): Set<string> {
    const found = new Set<string>();
    for (let at = 0; at + 4 <= hay.length; at++) {
      const known = this.byStart.get(hay.readUInt32BE(at));
      if (!known) continue;
      for (const { bytes, secret } of known) {
        if (hay.compare(bytes, 0, bytes.length, at, Math.min(at + bytes.length, hay.length)) === 0) found.add(secret);
      }
    }
    return found;
  }

  private add(bytes: Buffer, secret: string): void {
    const start = bytes.readUInt32BE(0);
    this.byStart.set(start, [...(this.byStart.get(start) ?? []), { bytes, secret }]);
  }
}

/**
 * Forms of a secret: as it is, as hexadecimal digits, and as base64 in each of the ways in which the bytes before it
 * can move it.
 */
function* forms(secret: string): Iterable<Buffer> {
  const raw = [Buffer.from(secret)];
  // Bytes that are shown as base64.
  if (secret.startsWith('whsec_')) raw.push(Buffer.from(secret.slice('whsec_'.length), 'base64'));
  for (const bytes of raw) {
    yield bytes;
    yield Buffer.from(bytes.toString('hex'));
    yield Buffer.from(bytes.toString('hex').toUpperCase());
    for (const offset of [0, 1, 2]) {
      const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
      // Without the digits that also depend on what comes before and after.
      yield Buffer.from(shifted.slice(offset && offset + 1, Math.floor(((offset + bytes.length) * 4) / 3)));
    }
  }
}
