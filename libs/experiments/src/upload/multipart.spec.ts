import { MalformedMultipart, multipartParts } from './multipart';

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
});

it('takes a preamble, a quoted boundary, and a body without parts', () => {
  expect(parts(Buffer.concat([Buffer.from('before\r\n'), part('a', 'x'), Buffer.from('--b--')]))).toHaveLength(1);
  expect(parts('--b c--', 'multipart/form-data; charset=utf-8; boundary="b c"')).toEqual([]);
});
