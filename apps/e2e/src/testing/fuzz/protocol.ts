import fc from 'fast-check';
import { render } from './exchange';

const METHODS = ['GET', 'POST', 'get', 'CONNECT', 'PRI', 'QUERY', 'G\u00cbT', '', 'GET GET', 'X'.repeat(100)];
const TARGETS = [
  '/v2/deployments',
  '*',
  '',
  'http://127.0.0.1/v2/deployments',
  'http://[::1/v2/deployments',
  'https://evil.example:99999/',
  '//',
  '/\u0000',
  '/ /',
  '/\u00ff',
  'evil.example:443',
  '?',
  '#',
  '\\',
  `/${'a'.repeat(70_000)}`,
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.11', 'HTTP/', 'http/1.1', '', 'SIP/2.0'];
const LINES = [
  'host: a\r\nhost: b',
  'host:',
  'no colon',
  ': no name',
  'a b: c',
  'a : b',
  ' folded: x',
  'x-reason: a\r\n b',
  'x: \u0000',
  'x: a\rb',
  'x: a\nb',
  '\u00e9: x',
  `x: ${'v'.repeat(40_000)}`,
  Array.from({ length: 3000 }, (_, i) => `h${i}: x`).join('\r\n'),
  Array.from({ length: 150 }, (_, i) => `h${i}: ${'x'.repeat(90)}`).join('\r\n'),
  'connection: keep-alive, close, upgrade\r\nupgrade: h2c',
  'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: eA==\r\nsec-websocket-version: 13',
  'expect: 100-continue',
  'expect: 200-maybe',
  'proxy-connection: keep-alive',
  'x-request-id: a\r\nx-request-id: b',
];
const FRAMES = [
  ['content-length: 5', '{}'],
  ['content-length: 1', '{}'],
  ['content-length: -1', '{}'],
  ['content-length: +2', '{}'],
  ['content-length: 0x2', '{}'],
  ['content-length: 2, 2', '{}'],
  ['content-length: 2\r\ncontent-length: 3', '{}x'],
  ['content-length: 99999999999999999999', '{}'],
  ['content-length: 9007199254740993', '{}'],
  ['content-length: 2\r\ntransfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', '2\r\n{}\r\n'],
  ['transfer-encoding: chunked', '2\r\n{}'],
  ['transfer-encoding: chunked', '3\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', 'x\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', '-1\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', '2;a="b\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked', `2;${'e'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`],
  ['transfer-encoding: chunked', '2\n{}\n0\n\n'],
  ['transfer-encoding: chunked', '2\r\n{}\r\n0\r\nx-trailer: 1\r\n\r\n'],
  ['transfer-encoding: chunked', `2\r\n{}\r\n0\r\nx-trailer: ${'t'.repeat(40_000)}\r\n\r\n`],
  ['transfer-encoding: gzip, chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: chunked, chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: gzip', '{}'],
  ['transfer-encoding: \u000bchunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding : chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ['transfer-encoding: xchunked', '{}'],
  ['', '{}'],
  ['content-length: 2', '{}GET / HTTP/1.1\r\n\r\n'],
  ['content-length: 0', 'GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n'],
] as const;
const NOISE = [
  '160301020001000001fc0303',
  '00',
  'ffffffff',
  '0d0a0d0a0d0a',
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n').toString('hex'),
  Buffer.from('GET').toString('hex'),
  Buffer.from('HTTP/1.1 200 OK\r\n\r\n').toString('hex'),
  Buffer.from('SSH-2.0-x\r\n').toString('hex'),
  Buffer.from('{"a":1}').toString('hex'),
];

/** Pieces of bytes that are hardly HTTP. `login` is the head's line with a key, `paths` where bodies are taken. */
export function protocolNoise(login: string, paths: readonly string[]): fc.Arbitrary<readonly Buffer[]> {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const request = (method: string, path: string, lines: readonly string[], body: string) =>
    latin1([`${method} ${path} HTTP/1.1`, 'host: a', login, ...lines.filter(Boolean), '', body].join('\r\n'));
  const framed = fc
    .tuple(fc.constantFrom('POST', 'PATCH', 'GET', 'DELETE'), fc.constantFrom(...paths), fc.constantFrom(...FRAMES))
    .map(([method, path, [head, body]]) => request(method, path, ['content-type: application/json', head], body));
  const lined = fc
    .tuple(fc.constantFrom(...paths), fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 3 }))
    .map(([path, lines]) => request('GET', path, lines, ''));
  const first = fc
    .tuple(fc.constantFrom(...METHODS), fc.constantFrom(...TARGETS), fc.constantFrom(...VERSIONS))
    .map((words) => latin1(`${words.join(' ')}\r\nhost: a\r\n${login}\r\n\r\n`));
  const noise = fc.oneof(
    fc.constantFrom(...NOISE).map((hex) => Buffer.from(hex, 'hex')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  );
  const good = fc
    .tuple(fc.constantFrom(...paths), fc.integer({ min: 1, max: 20 }))
    .map(([path, times]) => Buffer.concat(Array.from({ length: times }, () => request('GET', path, [], ''))));
  const whole = fc.constantFrom(...paths).map((path) => render({ method: 'GET', target: path, headers: [] }));
  const part = fc.oneof(framed, framed, lined, first, noise, good, whole);
  const broken = fc.tuple(part, fc.nat(), fc.uint8Array({ maxLength: 3 })).map(([bytes, place, inserted]) => {
    const at = place % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)]);
  });
  const cut = fc.tuple(part, fc.nat()).map(([bytes, place]) => bytes.subarray(0, place % (bytes.length + 1)));
  return fc.array(fc.oneof({ weight: 4, arbitrary: part }, broken, cut), { minLength: 1, maxLength: 3 });
}
