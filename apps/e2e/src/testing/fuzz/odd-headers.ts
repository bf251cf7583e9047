import fc from 'fast-check';
import { ODD_UUIDS } from './hostile';

type Header = readonly [name: string, value: string];
const among = (name: string, values: readonly string[]) =>
  fc.constantFrom(...values).map((value): Header => [name, value]);
const LONG = 'h'.repeat(5000);

const oddHeader: fc.Arbitrary<Header> = fc.oneof(
  among('content-type', [
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/html',
    'APPLICATION/JSON;',
    'json',
    ';;;',
    '\u00ff',
    LONG,
  ]),
  among('if-match', [
    '',
    '*',
    '"1"',
    'W/"1"',
    '"0"',
    '"-1"',
    '"1","2"',
    ',,,',
    '"9007199254740993"',
    '1',
    '"\u00ff"',
    LONG,
  ]),
  among('idempotency-key', ['', ' ', 'a', 'a', '\u00e9', 'k'.repeat(255), 'k'.repeat(256), LONG, '__proto__']),
  among('x-tenant-id', ['', 'x', ...ODD_UUIDS, '*', LONG]),
  among('x-request-id', ['', 'a', '\u00ff\u0080', 'r'.repeat(128), LONG, '<script>', '${x}']),
  among('x-reason', ['', 'because', '%', '%ff%00', '%00%ed%a0%80', '\u00c3\u00a9', '\u00ff', 'r'.repeat(1001), LONG]),
  among('accept', ['', '*/*', 'text/html', 'application/problem+json', 'application/problem+json;q=0', ',,;q=x', LONG]),
  among('content-encoding', ['', 'gzip', 'zstd', 'br', 'gzip, zstd', 'identity', 'IDENTITY', LONG]),
  among('authorization', ['', 'Bearer', 'Bearer ', 'Bearer x', 'Basic eDp5', '\u00ff', LONG]),
  among('x-api-key', ['', ' ', 'x', '\u00ff', LONG]),
  among('traceparent', ['', '00-0-0-0', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, LONG]),
  among('expect', ['100-continue', 'x']),
  among('range', ['bytes=0-0', 'bytes=-1']),
  among('if-none-match', ['*', '"1"']),
  among('x-http-method-override', ['DELETE', '__proto__']),
  among('upgrade', ['websocket', 'h2c']),
  among('cookie', ['a=b; __proto__=c', LONG]),
  among('origin', ['null', 'http://evil.example']),
  among('te', ['trailers, deflate;q=0.5']),
  among('accept-encoding', ['gzip, br, zstd', 'identity;q=0, *;q=0']),
  among('x-forwarded-for', ['\u00ff', '::1, unknown']),
  among('__proto__', ['x']),
);

/** No header beside the usual ones, one, or several, the same one twice among them. */
export const headers: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Header[]>([]) },
  { weight: 3, arbitrary: oddHeader.map((header) => [header]) },
  { weight: 1, arbitrary: oddHeader.map((header) => [header, header]) },
  { weight: 1, arbitrary: fc.array(oddHeader, { maxLength: 8 }) },
);
