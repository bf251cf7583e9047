const HYPHEN = 0x2d;
const HEX = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries())
  HEX[digit.charCodeAt(0)] = HEX[digit.toUpperCase().charCodeAt(0)] = value;

export function uuidBytes(id: string): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  let at = 0;
  for (let i = 0; at < 16; i += 2) {
    if (id.charCodeAt(i) === HYPHEN) i++;
    bytes[at++] = (HEX[id.charCodeAt(i)]! << 4) | HEX[id.charCodeAt(i + 1)]!;
  }
  return bytes;
}
