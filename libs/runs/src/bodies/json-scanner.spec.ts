import { elementSlices, memberSlices } from '@fairlead/blobs';
import fc from 'fast-check';
import { JsonScanner, JsonSyntaxError, parseJson, type ScannerLimits } from './json-scanner';
import { LimitExceeded } from './upload.errors';

type Seen = [kind: 'member' | 'element' | 'array' | 'root', key: string, value: unknown];

function scan(
  bytes: Buffer,
  cuts: number[] = [],
  limits: ScannerLimits = { valueBytes: 1 << 20, depth: 100 },
): { seen: Seen[]; any: boolean } {
  const seen: Seen[] = [];
  const scanner = new JsonScanner(new Set(['results', 'scores']), limits, {
    member: (key, value, offset) => seen.push(['member', key, checked(value, offset)]),
    element: (key, value, offset) => seen.push(['element', key, checked(value, offset)]),
    array: (key) => seen.push(['array', key, undefined]),
    root: (value, offset) => seen.push(['root', '', checked(value, offset)]),
  });
  const checked = (value: Buffer, offset: number) => {
    if (!bytes.subarray(offset, offset + value.length).equals(value)) throw new Error(`Not what is at ${offset}.`);
    return parseJson(value, offset);
  };
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  // Each chunk is a copy that is overwritten afterwards, as a reused network buffer is.
  for (let i = 1; i < at.length; i++) {
    const chunk = Buffer.from(bytes.subarray(at[i - 1], at[i]));
    scanner.push(chunk);
    chunk.fill(0x58);
  }
  return { seen, any: scanner.end() };
}

function expected(body: Record<string, unknown>): Seen[] {
  return Object.entries(body).flatMap(([key, value]): Seen[] =>
    Array.isArray(value) && (key === 'results' || key === 'scores')
      ? [['array', key, undefined], ...value.map((item): Seen => ['element', key, item])]
      : [['member', key, value]],
  );
}

const spacing = fc.constantFrom(0, 1, '\t', '\n');
const bodies = fc
  .tuple(
    fc.dictionary(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('scores')), fc.jsonValue()),
    fc.array(fc.jsonValue()),
  )
  .map(([members, results]): Record<string, unknown> => ({ ...members, results }));

describe('the scanner', () => {
  it('finds what JSON.parse finds, however the body is cut', () => {
    fc.assert(
      fc.property(bodies, fc.array(fc.nat()), spacing, (body, cuts, space) => {
        const text = JSON.stringify(body, null, space);
        // JSON.parse gives 0 for -0 written as "0", and orders integer-like keys, so compare with what it reads.
        const parsed = JSON.parse(text) as Record<string, unknown>;
        const { seen, any } = scan(Buffer.from(text), cuts);
        expect(any).toBe(true);
        expect(seen).toEqual(expected(parsed));
      }),
      { numRuns: 150 },
    );
  });

  it('finds the end of long strings full of quotes and backslashes, however the body is cut', () => {
    const unit = fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '{', ']');
    const long = fc.array(fc.string({ unit, maxLength: 60 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(long, fc.array(fc.nat(), { maxLength: 40 }), (texts, cuts) => {
        const body = { results: texts.map((text) => ({ [text]: 'x'.repeat(40) + text })), note: texts.join('\\') };
        expect(scan(Buffer.from(JSON.stringify(body)), cuts).seen).toEqual(expected(body));
      }),
      { numRuns: 500 },
    );
  });

  it('accepts and refuses exactly what JSON.parse does', () => {
    const damage = fc.tuple(bodies, fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ':', '1', '\\', '{', 'x'));
    fc.assert(
      fc.property(damage, fc.array(fc.nat()), ([body, place, with_], cuts) => {
        const text = JSON.stringify(body);
        const at = place % text.length;
        const damaged = text.slice(0, at) + with_ + text.slice(at + 1);
        const bytes = Buffer.from(damaged);
        let valid = true;
        try {
          JSON.parse(bytes.toString());
        } catch {
          valid = false;
        }
        if (valid) expect(scan(bytes, cuts).any).toBe(true);
        else expect(() => scan(bytes, cuts)).toThrow(JsonSyntaxError);
      }),
      { numRuns: 300 },
    );
  });

  it('tells bodies that are no object, and empty ones, apart', () => {
    expect(scan(Buffer.from(' [1, {"a":2}] ')).seen).toEqual([['root', '', [1, { a: 2 }]]]);
    expect(scan(Buffer.from('17')).seen).toEqual([['root', '', 17]]);
    expect(scan(Buffer.from('  '))).toEqual({ seen: [], any: false });
  });

  it('names the byte where the text goes wrong', () => {
    const wrong = (text: string) => {
      try {
        scan(Buffer.from(text));
      } catch (error) {
        return [(error as JsonSyntaxError).message, (error as JsonSyntaxError).offset];
      }
      return undefined;
    };
    expect(wrong('{')).toEqual(['Expecting property name enclosed in double quotes', 1]);
    expect(wrong('{a')).toEqual(['Expecting property name enclosed in double quotes', 1]);
    expect(wrong('{"a" 1')).toEqual(["Expecting ':' delimiter", 5]);
    expect(wrong('{"a":1 "b"')).toEqual(["Expecting ',' delimiter", 7]);
    expect(wrong('{"a":"x')).toEqual(['Unterminated string starting at', 5]);
    expect(wrong('{"é":1,"results":[{"b":tru}]}')).toEqual(['Expecting value', 24]);
    expect(wrong('{} 1')).toEqual(['Extra data', 3]);
  });

  it('refuses bytes that are no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    expect(() => scan(bytes)).toThrow(JsonSyntaxError);
  });

  it('stops at the depth and size limits, in constant memory', () => {
    const deep = (depth: number) => `{"results":[${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}]}`;
    expect(scan(Buffer.from(deep(100))).any).toBe(true);
    expect(() => scan(Buffer.from(deep(101)))).toThrow(LimitExceeded);
    expect(() => scan(Buffer.from('{"a":'.repeat(100_000)))).toThrow(LimitExceeded);
    const limits = { valueBytes: 10, depth: 5 };
    expect(scan(Buffer.from('{"results":["12345678"]}'), [15], limits).any).toBe(true);
    expect(() => scan(Buffer.from('{"results":["123456789"]}'), [15], limits)).toThrow(LimitExceeded);
  });
});

describe('slices', () => {
  it('hold the bytes of every member and element', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), spacing, (object, space) => {
        const text = JSON.stringify(object, null, space);
        const members = memberSlices(Buffer.from(text));
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect([...members].map(([key, slice]) => [key, JSON.parse(slice.toString()) as unknown])).toEqual(
          Object.entries(parsed),
        );
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), spacing, (array, space) => {
        const text = JSON.stringify(array, null, space);
        expect(elementSlices(Buffer.from(text)).map((slice) => JSON.parse(slice.toString()) as unknown)).toEqual(
          JSON.parse(text),
        );
      }),
    );
  });

  it('take the last of two members with one name, as JSON.parse does', () => {
    expect(memberSlices(Buffer.from('{"a":1, "\\u0061" : [2] }')).get('a')?.toString()).toBe('[2]');
  });
});
