import { parseJson } from '@fairlead/schema';
import { list, object, optional, record, secret, str, union, uuid } from '@fairlead/schema';
import { validate } from '@fairlead/api';

const UNLIMITED = Number.MAX_SAFE_INTEGER;
const element = object('Element', { name: str({ min: 1 }), id: uuid(), value: secret(str()) });
const schema = object(
  'Body',
  {
    name: str(),
    missing: str(),
    wanted: uuid(),
    items: optional(list(union(uuid(), element, list(str())))),
    words: optional(record(str())),
    secrets: optional(list(element)),
  },
  { closed: true },
);

const many = (count: number, piece: (n: number) => string) => Array.from({ length: count }, (_, n) => piece(n)).join();

/** Bodies that cost most for their size; some are no JSON, most do not fit the schema. */
const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  'unknown members': (size) => `{${many(size, (n) => `"a${n}":1`)}}`,
  'one member many times': (size) => `{${many(size, () => '"name":1')}}`,
  'elements of a wrong type': (size) => `{"items":[${many(size, () => '1')}]}`,
  'elements that lack members': (size) => `{"secrets":[${many(size, () => '{}')}]}`,
  'elements with unknown members': (size) => `{"secrets":[{${many(size, (n) => `"a${n}":"b"`)}}]}`,
  'members of a wrong type': (size) => `{"words":{${many(size, (n) => `"a${n}":1`)}}}`,
  'lists in a list': (size) => `{"items":[${many(size, () => '[[],1,"a"]')}]}`,
  'one long text': (size) => `{"name":"${'é😀\\n'.repeat(20 * size)}"}`,
  'a fault at the end': (size) => `{"name":"${'é😀'.repeat(20 * size)}" x}`,
  'a fault behind many values': (size) => `[${many(size, () => '{"a":[1]}')} x]`,
  spaces: (size) => `${' '.repeat(50 * size)}{`,
};
const bytesOf: Readonly<Record<string, (size: number) => Buffer>> = {
  ...Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [name, (size) => Buffer.from(shape(size))])),
  'no UTF-8': (size) => Buffer.concat([Buffer.from('"é'.repeat(20 * size)), Buffer.from([0xff])]),
};

/** CPU time that reading a body takes once, in milliseconds; the threads of the garbage collector count as well. */
function cost(bytes: Buffer): number {
  const start = process.cpuUsage();
  try {
    validate(schema, parseJson(bytes, 100, UNLIMITED), 'body');
  } catch {
    // That it is refused costs as well.
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const TRIES = 20;

describe('Reading a body', () => {
  it.each(Object.entries(bytesOf))('takes time in proportion to its size: %s', (_name, shape) => {
    const bodies = [shape(5_000), shape(40_000)] as const;
    // Eight times the size: what grows with the square takes 64 times as long, however often it is tried.
    const slow = ([small, large]: readonly [number, number]) => large >= 8 * 3 * small + 50;
    let best: [number, number] = [Infinity, Infinity];
    for (let tried = 0; tried < 3 || (tried < TRIES && slow(best)); tried++)
      best = [Math.min(best[0], cost(bodies[0])), Math.min(best[1], cost(bodies[1]))];
    expect({ best, slow: slow(best) }).toEqual({ best, slow: false });
  });

  it('names the limit and the setting for a body of too many values', () => {
    const body = (count: number) => Buffer.from(`[${many(count, () => '1')}]`);
    expect(parseJson(body(19_999), 10)).toHaveLength(19_999);
    expect(() => parseJson(body(20_001), 10)).toThrow(
      expect.objectContaining({ status: 413, detail: 'The JSON holds more than 20000 values (BODY_MAX_VALUES).' }),
    );
  });
});
