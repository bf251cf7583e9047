export const ID_BYTES = 16;

/**
 * Numbers UUIDs (16 bytes each) from 0 in the order in which they are added. Hundreds of thousands are found without a
 * string for each: an open table of numbers, probed one place after the other, half empty at least.
 */
export class IdTable {
  private bytes = Buffer.alloc(1024 * ID_BYTES);
  private places = new Int32Array(2048);
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(data: Buffer, offset: number): number {
    const place = this.place(data, offset);
    const known = this.places[place]!;
    if (known > 0) return known - 1;
    const number = this.count++;
    this.places[place] = this.count;
    data.copy(this.bytes, number * ID_BYTES, offset, offset + ID_BYTES);
    if (this.count * ID_BYTES === this.bytes.length) this.grow();
    return number;
  }

  find(data: Buffer, offset: number): number {
    return this.places[this.place(data, offset)]! - 1;
  }

  ids(): Buffer {
    return this.bytes.subarray(0, this.count * ID_BYTES);
  }

  /** Where the id is, or where it belongs. */
  private place(data: Buffer, offset: number): number {
    const mask = this.places.length - 1;
    let place = hash(data, offset) & mask;
    for (;;) {
      const known = this.places[place]!;
      if (known === 0 || equal(this.bytes, (known - 1) * ID_BYTES, data, offset)) return place;
      place = (place + 1) & mask;
    }
  }

  private grow(): void {
    this.bytes = Buffer.concat([this.bytes], 2 * this.bytes.length);
    this.places = new Int32Array(2 * this.places.length);
    for (let number = 0; number < this.count; number++) {
      this.places[this.place(this.bytes, number * ID_BYTES)] = number + 1;
    }
  }
}

/** Every byte counts: ids may be counted up instead of drawn. */
function hash(data: Buffer, offset: number): number {
  let bits = 0;
  for (let at = offset; at < offset + ID_BYTES; at += 4) {
    const word = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
    bits = Math.imul(bits ^ word, 0x9e3779b1);
    bits ^= bits >>> 15;
  }
  return bits;
}

function equal(left: Buffer, at: number, right: Buffer, offset: number): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (left[at + i] !== right[offset + i]) return false;
  return true;
}
