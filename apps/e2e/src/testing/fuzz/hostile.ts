import fc from 'fast-check';

/** Nested lists; what is deeper than the limit is refused. */
export const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

export const ODD_UUIDS = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '019A0000-0000-7000-8000-00000000ABCD',
  '019a000000007000800000000000abcd',
  '{019a0000-0000-7000-8000-00000000abcd}',
  'urn:uuid:019a0000-0000-7000-8000-00000000abcd',
  '019a0000-0000-7000-8000-00000000abc',
  '019a0000-0000-7000-8000-00000000abcde',
  '019a0000_0000_7000_8000_00000000abcd',
  '019a0000-0000-7000-8000-00000000abcg',
  '0-19a0000-0000-7000-8000-0000000abcd',
  ' 019a0000-0000-7000-8000-00000000abcd ',
];

const ODD_TIMES = [
  '0000-00-00',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59-23:59',
  '10000-01-01T00:00:00Z',
  '-0001-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01 00:00',
  '2026-01-01T00:00:00.123456789123456789Z',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01',
  'infinity',
  '-infinity',
  'now',
  'epoch',
  'latest',
  '253402300800',
  '-62135596801',
  '1e400',
  '0',
];

/** Texts that break naive code, as plain strings. */
export const ODD_STRINGS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  'a\udc00',
  '\ufeffx',
  '\uffff',
  '\u202e\u0007\u001b[31m',
  'é\u0301\u200d👩‍👩‍👧‍👦',
  '٣',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  'NaN',
  '-0',
  '1e400',
  '9007199254740993',
  '0x10',
  '1_000',
  "'; drop table events; --",
  '"',
  '\\',
  '\\u0000',
  '\\N',
  '\\.',
  '%s%n%00',
  '${7*7}{{7*7}}',
  '../../../etc/passwd',
  'refs/tags/v1',
  'https://user:password@[::1]:99999/..//?#',
  'registry.example/a:1',
  'registry.example/a@sha256:0',
  ':::@@@///',
  '********',
  '{}',
  '[1',
  ...ODD_UUIDS,
  ...ODD_TIMES,
];

/** JSON texts that naive code breaks on. */
const ODD_JSON = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.0',
  '0.1',
  '1E+2',
  '1e400',
  '-1e400',
  '1e-400',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '-9223372036854775809',
  '18446744073709551616',
  '1'.repeat(400),
  `0.${'3'.repeat(400)}`,
  String.raw`"\u0000"`,
  String.raw`"\ud800"`,
  String.raw`"\uDC00\ud800\u0000"`,
  String.raw`{"\u0000":"\ud800"}`,
  String.raw`{"\ud800":{"\u005f_proto__":[]}}`,
  '{}',
  '[]',
  '[[]]',
  '[null]',
  '[{}]',
  '{"":""}',
  '{"__proto__":{"tenant_id":"x","length":1}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"toString":1,"hasOwnProperty":2,"valueOf":null,"toJSON":3}',
  '{"then":{"then":1},"length":-1,"0":0}',
  '{"a":1,"a":{"a":2,"a":3}}',
  '{"name":1}',
  `[${'null,'.repeat(1000)}1]`,
  `{${Array.from({ length: 500 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
  deep(50),
  deep(101),
];

/** Texts that are no JSON at all. */
const NO_JSON = [
  'NaN',
  'Infinity',
  'undefined',
  "'a'",
  '01',
  '1.',
  '.5',
  '+1',
  '--1',
  '1e',
  '"',
  '"\\x"',
  '"\\u12"',
  '"a\nb"',
  '"a\u0000b"',
  '{a:1}',
  '{"a"}',
  '{"a":}',
  '{,}',
  '[1,]',
  '[1 2]',
  ']',
  '}',
  '/* */ 1',
  '',
  '{"a":1}{"b":2}',
];

const LARGE_JSON = [
  JSON.stringify('x'.repeat(1100)),
  JSON.stringify('ä'.repeat(70_000)),
  JSON.stringify('\u0000'.repeat(3000)),
  JSON.stringify('👍'.repeat(150_000)),
  deep(1000),
  deep(100_000),
  `{"a":`.repeat(100_000) + '1' + '}'.repeat(100_000),
  `[${'1,'.repeat(100_000)}1]`,
];

export const oddUuid = fc.constantFrom(...ODD_UUIDS);
export const oddTime = fc.constantFrom(...ODD_TIMES);

export const oddString = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ODD_STRINGS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(300), 'y'.repeat(5000), '🂡'.repeat(513)) },
);

/** The text of some value where another one belongs, sometimes no JSON. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 24, arbitrary: fc.constantFrom(...ODD_JSON) },
  { weight: 12, arbitrary: oddString.map((text) => JSON.stringify(text)) },
  { weight: 4, arbitrary: fc.json() },
  { weight: 2, arbitrary: fc.constantFrom(...NO_JSON) },
  { weight: 1, arbitrary: fc.constantFrom(...LARGE_JSON) },
);

/** `usual`, and one time in `rarely` something else. */
export function mostly<T>(usual: T, other: fc.Arbitrary<T>, rarely: number): fc.Arbitrary<T> {
  return fc.oneof({ weight: rarely - 1, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}
