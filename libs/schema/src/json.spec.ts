import fc from 'fast-check';
import { HttpProblem } from './errors';
import { findJsonFault } from './json-fault';
import { parseJson, parseJsonInTurns } from './json';

const thrown = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as HttpProblem).detail;
  }
  return undefined;
};

describe('parseJson', () => {
  it('reads UTF-8, with or without a byte order mark', () => {
    expect(parseJson(Buffer.from('{"a":"é😀"}'), 3)).toEqual({ a: 'é😀' });
    expect(parseJson(Buffer.from('\ufeff[1]'), 3)).toEqual([1]);
  });

  it('keeps a member called __proto__ as a plain member', () => {
    const value = parseJson(Buffer.from('{"__proto__":{"x":1}}'), 3) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    [Buffer.from([0x22, 0xc3, 0xa9, 0xff, 0x22]), 2, 'The text is not valid UTF-8'],
    [Buffer.from('[[["]["]]]'), 2, 'The nesting is deeper than the limit of 2 levels (MAX_DEPTH)'],
    [Buffer.from('['.repeat(100_000)), 2, 'The nesting is deeper than the limit of 2 levels (MAX_DEPTH)'],
    [Buffer.from('"é😀" x'), 5, 'Extra data'],
  ])('tells what is wrong and where: %#', (bytes, position, error) => {
    expect(thrown(() => parseJson(bytes, 2))).toEqual([
      { type: 'json_invalid', loc: ['body', position], msg: 'JSON decode error', input: {}, ctx: { error } },
    ]);
  });

  it('counts brackets only outside strings', () => {
    expect(parseJson(Buffer.from('["[[[", "\\"[["]'), 1)).toEqual(['[[[', '"[[']);
  });
});

/** Texts near JSON: valid ones with a few characters changed, and words from the alphabet of JSON. */
const nearly = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc
    .tuple(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', '"', '\\', '\\u12', '\n', '0', '-', 'é', '😀'),
    )
    .map(([text, at, piece]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + piece + text.slice(index + 1);
    }),
  fc
    .array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"',
        '1',
        '-',
        '.5',
        'e3',
        'true',
        'nul',
        ' ',
        '\\u00e9',
        '\u0001',
      ),
    )
    .map((parts) => parts.join('')),
);

describe('findJsonFault', () => {
  it('accepts exactly what JSON.parse accepts', () => {
    fc.assert(
      fc.property(nearly, (text) => {
        expect(findJsonFault(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['', 'Expecting value', 0],
    ['{nope', 'Expecting property name enclosed in double quotes', 1],
    ['{"a" 1}', "Expecting ':' delimiter", 5],
    ['{"a":}', 'Expecting value', 5],
    ['{"a":1,}', 'Expecting property name enclosed in double quotes', 7],
    ['[1 2]', "Expecting ',' delimiter", 3],
    ['[1,]', 'Expecting value', 3],
    ['["abc', 'Unterminated string starting at', 1],
    ['["a\nb"]', 'Invalid control character at', 3],
    ['["a\\x"]', 'Invalid \\escape', 3],
    ['["a\\u12"]', 'Invalid \\uXXXX escape', 4],
    ['["a\\', 'Unterminated string starting at', 1],
    ['01', 'Extra data', 1],
    ['NaN', 'Expecting value', 0],
  ])('says of %j: %s at %i, as Python does', (text, error, position) => {
    expect(findJsonFault(text)).toEqual({ error, position });
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('parseJsonInTurns', () => {
  const answer = async (parse: () => unknown) => {
    try {
      return { value: await parse() };
    } catch (error) {
      return { detail: (error as HttpProblem).detail };
    }
  };
  const LENGTH = 700_000;
  const piece = fc.oneof(
    fc.constantFrom('é', '😀', '\\\\', '\\"', '[', '{', ',', ' ', 'x'),
    fc.string({ unit: 'binary', maxLength: 5 }).map((text) => JSON.stringify(text).slice(1, -1)),
  );
  /** Larger than what is looked at in one turn, with what matters anywhere in it. */
  const large = fc
    .tuple(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.nat(7),
      fc.constantFrom('"]', '",1,[{}]]', '"] x', '', '",[[[[1]]]]]', '",1,2,3,4,5,6]'),
    )
    .map(([pieces, shift, end]) => {
      const text = pieces.join('') || 'x';
      return Buffer.from(`["${'x'.repeat(shift)}${text.repeat(Math.ceil(LENGTH / text.length))}${end}`);
    });

  it('answers what parseJson answers', async () => {
    await fc.assert(
      fc.asyncProperty(large, async (bytes) => {
        const expected = await answer(() => parseJson(bytes, 4, 8));
        expect(await answer(() => parseJsonInTurns(bytes, 4, 8))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('lets others go on while it reads a large text', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const text = 'é'.repeat(4_000_000);
    expect(await parseJsonInTurns(Buffer.from(JSON.stringify({ text })), 3)).toEqual({ text });
    isDone = true;
    expect(turns).toBeGreaterThan(25);
  });
});
