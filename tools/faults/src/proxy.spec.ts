import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Proxy } from './proxy';

let echo: Server;
let proxy: Proxy;
beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await Proxy.start((echo.address() as AddressInfo).port);
});
afterEach(async () => {
  await proxy.stop();
  await new Promise((closed) => echo.close(closed));
});

async function open(): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  await once(socket, 'connect');
  return socket;
}

/** The answer to `text`, 'nothing' when it takes too long, or the code of an error. */
function answer(socket: Socket, text: string, ms = 60_000): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('nothing'), ms);
    const settle = (what: string) => {
      clearTimeout(timer);
      resolve(what);
    };
    socket.once('data', (data) => settle(data.toString()));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code!));
    socket.write(text);
  });
}

it('passes on what is sent, and the end', async () => {
  const socket = await open();
  expect(await answer(socket, 'hello')).toBe('hello');
  socket.end();
  await once(socket, 'end');
});

it('is slow in one direction, in order, and at once again when it is mended', async () => {
  const socket = await open();
  let heard = '';
  socket.on('data', (data) => (heard += data.toString()));
  proxy.slow(300);
  const sent = Date.now();
  for (const text of 'abc') {
    socket.write(text);
    await new Promise(setImmediate);
  }
  await once(socket, 'data');
  expect(Date.now() - sent).toBeGreaterThanOrEqual(299);
  proxy.mend();
  while (heard.length < 3) await once(socket, 'data');
  socket.write('d');
  await once(socket, 'data');
  expect(heard).toBe('abcd');
  socket.destroy();
});

it('cuts what is there and what comes, until it is mended', async () => {
  const socket = await open();
  const broken = once(socket, 'error');
  proxy.cut();
  expect(await broken).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
  const later = connect({ port: proxy.port, host: '127.0.0.1' });
  expect(await answer(later, 'hello')).toMatch(/ECONNRESET|EPIPE/);
  proxy.mend();
  const last = await open();
  expect(await answer(last, 'hello')).toBe('hello');
  last.destroy();
});

it('is silent to whoever was connected, also when it is mended', async () => {
  const before = await open();
  expect(await answer(before, 'hello')).toBe('hello');
  proxy.silence();
  const during = await open();
  expect(await Promise.all([answer(before, 'hello', 500), answer(during, 'hello', 500)])).toEqual([
    'nothing',
    'nothing',
  ]);
  proxy.mend();
  expect(await Promise.all([answer(before, 'hello', 500), answer(during, 'hello', 500)])).toEqual([
    'nothing',
    'nothing',
  ]);
  const after = await open();
  expect(await answer(after, 'hello')).toBe('hello');
  for (const socket of [before, during, after]) socket.destroy();
});
