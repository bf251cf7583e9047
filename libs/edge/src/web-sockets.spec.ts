import { EdgeModule } from './testing/edge.controller';
import { type SampleServer, startSample } from './testing/sample-server';

let server: SampleServer;
beforeEach(async () => {
  server = await startSample({ webSockets: true }, EdgeModule);
});
afterEach(() => server.app.close());

const HANDSHAKE =
  'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n';

describe('An offer of another protocol', () => {
  it('is passed over, with the body of its request and the requests that follow', async () => {
    const said = await server.sendRaw(
      'POST /v2/streamed HTTP/1.1\r\nhost: a\r\nx-api-key: owner\r\nconnection: Upgrade, HTTP2-Settings\r\n',
      'Upgrade: h2c\r\nHTTP2-Settings: AAMA\r\ncontent-length: 5\r\n\r\nab',
      'cde',
      'GET /v2/address HTTP/1.1\r\nhost: a\r\nx-api-key: owner\r\nconnection: close\r\n\r\n',
    );
    expect(said).toContain('{"bytes":5}');
    expect(said.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  it('is a WebSocket only without a body', async () => {
    const head = `GET /v2/address HTTP/1.1\r\nhost: a\r\nx-api-key: owner\r\n${HANDSHAKE}content-length: 2\r\n\r\n{}`;
    const next = 'GET /v2/open HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    expect((await server.sendRaw(head, next)).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });
});

describe('A WebSocket', () => {
  it.each([
    ['/v2/address', 'x-api-key: owner\r\n', 200],
    ['/v2/address', '', 401],
    ['/v2/address', 'x-api-key: nobody\r\n', 401],
    ['/nowhere', 'x-api-key: owner\r\n', 404],
  ])('for %s with %j is answered %i as any request, and its connection ends', async (path, key, status) => {
    const said = await server.sendRaw(`GET ${path} HTTP/1.1\r\nhost: a\r\n${key}${HANDSHAKE}\r\n`);
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*x-request-id: .*connection: close`, 'is'));
  });
});
