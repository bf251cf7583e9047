import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { ID_BYTES, IdTable } from './id-table';

/** Few bytes differ, and some ids are alike: what ids that are counted up look like. */
const ids = fc.array(
  fc.uint8Array({ minLength: ID_BYTES, maxLength: ID_BYTES, max: 2 }).map((bytes) => Buffer.from(bytes)),
  { maxLength: 200 },
);

describe('a table of ids', () => {
  it('numbers each id once, in the order of their coming, as a map of texts does', () => {
    fc.assert(
      fc.property(ids, ids, (added, sought) => {
        const table = new IdTable();
        const expected = new Map<string, number>();
        const all = Buffer.concat(added);
        added.forEach((id, n) => {
          const text = id.toString('hex');
          if (!expected.has(text)) expected.set(text, expected.size);
          expect(table.add(all, n * ID_BYTES)).toBe(expected.get(text));
        });
        for (const id of sought) expect(table.find(id, 0)).toBe(expected.get(id.toString('hex')) ?? -1);
        expect(table.size).toBe(expected.size);
        expect(table.ids().toString('hex')).toBe([...expected.keys()].join(''));
      }),
    );
  });

  it('grows', () => {
    const table = new IdTable();
    const bytes = randomBytes(10_000 * ID_BYTES);
    const numbers = Array.from({ length: 10_000 }, (_, n) => n);
    expect(numbers.map((n) => table.add(bytes, n * ID_BYTES))).toEqual(numbers);
    expect(numbers.map((n) => table.find(bytes, n * ID_BYTES))).toEqual(numbers);
    expect(table.find(randomBytes(ID_BYTES), 0)).toBe(-1);
    expect(table.ids().equals(bytes)).toBe(true);
  });
});
