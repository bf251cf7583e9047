import { type AddressInfo, connect } from 'node:net';
import { experiment, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading({ maxUploads: 4 });
});
afterAll(() => service.stop());

it('Slow uploads of one workspace leave places to another', async () => {
  const { port } = service.app.getHttpServer().address() as AddressInfo;
  const head =
    'POST /api/v1/datasets/upload-experiment HTTP/1.1\r\nhost: x\r\nx-api-key: b\r\ncontent-type: application/json\r\n' +
    'content-length: 10000000\r\n\r\n';
  let refused = '';
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.setEncoding('utf8').once('data', (text: string) => (refused ||= text));
    socket.write(`${head}{${' '.repeat(600_000)}`);
    return socket;
  });
  while (refused === '') await new Promise((resolve) => setTimeout(resolve, 20));
  expect(refused).toMatch(/^HTTP\/1.1 503 [^]*Too many uploads at a time/);
  expect((await service.upload(experiment())).status).toBe(200);
  // What came of them is written, and no connection waits for what does not come.
  const writing = `select from pg_stat_activity where datname = current_database() and query like 'copy payload_chunks%'
    and state <> 'idle'`;
  const drafts = async () => (await service.pool.query('select from payload_drafts')).rowCount;
  while ((await drafts())! < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  while ((await service.pool.query(writing)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const socket of sockets) socket.destroy();
});
