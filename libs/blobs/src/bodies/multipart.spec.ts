import fc from 'fast-check';
import { MalformedMultipart, multipartParts } from './multipart';
import { PartCutter } from './part-cutter';

const TYPE = 'multipart/form-data; boundary=b';
const parts = (body: string | Buffer, type = TYPE) => multipartParts(Buffer.from(body as string), type);
const bytes = Buffer.from([0, 0xff, 0x0d, 0x0a, 0x2d, 0x2d, 0xc3, 0x28]);
const part = (name: string, data: string | Buffer, more = '') =>
  Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; name="${name}"\r\n${more}\r\n`),
    Buffer.from(data as string),
    Buffer.from('\r\n'),
  ]);

it('gives bytes as they were sent, with or without a file name', () => {
  const body = Buffer.concat([
    part('one', bytes, 'Content-Type: Image/PNG; length=8\r\n'),
    part('two', ''),
    Buffer.from('--b--\r\n'),
  ]);
  expect(parts(body)).toEqual([
    { name: 'one', type: 'image/png', data: bytes },
    { name: 'two', type: '', data: Buffer.alloc(0) },
  ]);
});

it('reads what fetch sends', async () => {
  const form = new FormData();
  form.append('a"b\r\nc', 'text');
  form.append('file', new Blob([bytes], { type: 'image/png' }), 'x.png');
  const request = new Response(form);
  const read = multipartParts(Buffer.from(await request.arrayBuffer()), request.headers.get('content-type')!);
  expect(read.map(({ name, data }) => [name, data])).toEqual([
    ['a"b\r\nc', Buffer.from('text')],
    ['file', bytes],
  ]);
});

it.each([
  ['no boundary', '--b--', 'multipart/form-data'],
  ['another type', '--b--', 'text/plain; boundary=b'],
  ['nothing', '', TYPE],
  ['no end', part('a', 'x'), TYPE],
  ['no name', '--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b--', TYPE],
  ['no end of a head', '--b\r\ncontent-disposition: form-data; name="a"\r\nx\r\n--b--', TYPE],
  ['a long head', `${part('a'.repeat(10_000), 'x').toString()}--b--`, TYPE],
  ['too many parts', `${part('a', 'x').toString().repeat(20_001)}--b--`, TYPE],
])('refuses %s', (_, body, type) => {
  expect(() => parts(body, type)).toThrow(MalformedMultipart);
  expect(() => {
    const { body: cut } = pieces(Buffer.from(body), 7, new PartCutter(type, () => 1000, 1_000_000));
    parts(cut, type);
  }).toThrow(MalformedMultipart);
});

it('takes a preamble, a quoted boundary, and a body without parts', () => {
  expect(parts(Buffer.concat([Buffer.from('before\r\n'), part('a', 'x'), Buffer.from('--b--')]))).toHaveLength(1);
  expect(parts('--b c--', 'multipart/form-data; charset=utf-8; boundary="b c"')).toEqual([]);
});

/** The rest of a body that arrives in pieces. */
function pieces(body: Buffer, length: number, cutter: PartCutter) {
  for (let at = 0; at < body.length; at += length) cutter.push(body.subarray(at, at + length));
  return cutter.finish();
}

it('leaves out the parts that are too large and nothing else, however the body arrives', () => {
  // Data that nearly end the part.
  const data = fc.array(fc.constantFrom('\r\n--', '\r', '\n', '-', 'b', '\r\n-', 'x'.repeat(20)), { maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(data, { maxLength: 8 }),
      fc.constantFrom('', 'before\r\n', '\r\n'),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 100 }),
      (texts, before, length, most) => {
        const sent = texts.map((text) => text.join('').replaceAll('--b', '--c'));
        const all = sent.map((text, n) => part(`${n}`, text));
        const body = Buffer.concat([Buffer.from(before), ...all, Buffer.from('--b--\r\nafter')]);
        const { body: cut, large } = pieces(body, length, new PartCutter(TYPE, () => most, 1_000_000));
        const whole = parts(body);
        expect(parts(cut)).toEqual(whole.filter((one) => one.data.length <= most));
        const named = whole.filter((one) => one.data.length > most).map(({ name, data: own }) => [name, own.length]);
        expect(large).toEqual(named.map(([name, bytes]) => ({ name, bytes, most })));
      },
    ),
    { numRuns: 500 },
  );
});

it('holds no more than it may, whatever is sent', () => {
  const cutter = new PartCutter(TYPE, () => 10_000, 20_000);
  const sizes: number[] = [];
  for (let n = 0; n < 50; n++) {
    for (const piece of [part(`${n}`, 'x'.repeat(n % 3 === 0 ? 50_000 : 5000))]) cutter.push(piece);
    sizes.push(cutter.size);
  }
  cutter.push(Buffer.from('--b--'));
  const { body, large } = cutter.finish();
  expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000);
  expect(parts(body).map(({ name }) => name)).toEqual(['1', '2', '4']);
  expect(large).toHaveLength(47);
  const names = new PartCutter(TYPE, () => 0, 1_000_000);
  expect(() => {
    for (let n = 0; n < 1000; n++) names.push(part('n'.repeat(5000), 'x'));
  }).toThrow('Too many parts');
});
