import fc from 'fast-check';
import { hostileJson, mostly, ODD_UUIDS, oddString } from './hostile';
import { type JsonSchema, type Taste, textsOf } from './schema-texts';

type Ids = Taste['ids'];

const PREFIXES = ['', '', '', '', '', '', '/api-host', '//', '/./', '/api-host/api-host', '/API'];
const ENDINGS = ['', '', '', '', '', '', '', '/', '//', '/..', '/%2e%2e/x', ';a=b', '.json', '%20', '#x', '?'];
const ODD_SEGMENTS = [
  '%',
  '%zz',
  '%00',
  '%ff',
  '%ed%a0%80',
  '%c0%ae%c0%ae',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..',
  '..%5c',
  '%252e',
  '*',
  ':id',
  '__proto__',
  'constructor',
  'null',
  '%F0%9F%98%80',
  '\u00e9\u0080\u00ff',
  "'",
  '-1',
  'x'.repeat(500),
  'y'.repeat(1500),
  'z'.repeat(17_000),
  ...ODD_UUIDS.map((id) => encodeURI(id)),
];

/** Addresses of a route's path; `odd` ones may lead anywhere. */
export function pathTexts(path: string, ids: Ids, odd: boolean): fc.Arbitrary<string> {
  const parts = path.split('/').map((part): fc.Arbitrary<string> => {
    if (!part.startsWith(':')) return fc.constant(part);
    const known = ids[part.slice(1)];
    const usual = known === undefined ? fc.uuid() : mostly(known, fc.uuid(), 10);
    if (!odd) return usual;
    return fc.oneof({ weight: 12, arbitrary: usual }, fc.constantFrom(...ODD_SEGMENTS), oddString.map(encodeSafely));
  });
  const prefix = odd ? fc.constantFrom(...PREFIXES) : fc.constant('');
  const ending = odd ? fc.constantFrom(...ENDINGS) : fc.constant('');
  const spelled = fc.constantFrom('/api/v1', '/api/v1', '/api', '', '/v1');
  return fc.tuple(prefix, fc.tuple(...parts), ending, spelled).map(([start, middle, end, base]) => {
    const text = middle.join('/');
    return start + (text.startsWith('/api/v1/') ? base + text.slice('/api/v1'.length) : text) + end;
  });
}

/** Percent-encoded, lone surrogates in the bytes that naive encoders make of them. */
function encodeSafely(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '\ufffd')).replaceAll('%EF%BF%BD', '%ED%A0%80');
}

const ODD_QUERIES = [
  '?',
  '?&&&=&=',
  '?limit',
  '?limit=%',
  '?limit=%zz&offset=%ff',
  '?limit=1&limit=2&limit=x',
  '?limit[]=1&limit[a]=2',
  '?__proto__=1&constructor=2&__proto__[x]=1',
  '?toString=1&hasOwnProperty=1',
  '?%00=%00',
  '?limit=1?offset=1',
  '?offset=9007199254740991',
  '?offset=9223372036854775808',
  '?offset=2147483648&limit=100',
  '?limit=1;offset=2',
  '?limit=+1&offset=%2B1',
  '?name=%ed%a0%80',
  `?name=${'a'.repeat(12_000)}`,
  `?name=${'a'.repeat(20_000)}`,
  `?${'id=1&'.repeat(1500)}`,
  `?id=${'019a0000-0000-7000-8000-00000000abcd,'.repeat(120)}`,
  '?name=\u00e9\u00ff',
  '?dry_run=true',
  '?at=2026-01-01&version=1',
];

/** Query strings after a schema, and others. */
export function queryTexts(schema: JsonSchema | undefined, taste: Taste): fc.Arbitrary<string> {
  if (!schema?.properties) return mostly('', fc.constantFrom(...ODD_QUERIES), 6);
  const { properties, required = [] } = schema;
  const names = Object.keys(properties);
  const made = fc.subarray(names, { maxLength: Math.min(4, names.length) }).chain((chosen) => {
    const pairs = [...new Set([...required, ...chosen])].map((name) => {
      const fitting = textsOf(properties[name] ?? {}, { ...taste, hostile: 0 }, name).map((json) => plain(json));
      const odd = fc.oneof(
        oddString.map((text) => [text]),
        hostileJson.map((text) => [text.slice(0, 3000)]),
      );
      const values = taste.hostile === 0 ? fitting : fc.oneof({ weight: 3, arbitrary: fitting }, odd);
      return values.map((list) => list.map((value) => `${name}=${encodeSafely(value)}`).join('&'));
    });
    return fc.tuple(...pairs).map((texts) => `?${texts.filter(Boolean).join('&')}`);
  });
  return taste.hostile === 0 ? made : fc.oneof({ weight: 5, arbitrary: made }, fc.constantFrom(...ODD_QUERIES));
}

/** Values of a query parameter for a JSON text. */
function plain(json: string): string[] {
  const value: unknown = JSON.parse(json);
  const text = (item: unknown) => (typeof item === 'string' ? item : JSON.stringify(item));
  return Array.isArray(value) ? value.map(text) : [text(value)];
}
