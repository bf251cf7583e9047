import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type SampleServer, startSample } from './testing/sample-server';

const ONE = '/v2/deployments/12345678-1234-5678-1234-567812345678';

describe('Bodies are read', () => {
  let server: SampleServer;
  /** It gives up on clients soon; on a busy machine it would on others as well. */
  let hasty: SampleServer;
  beforeAll(async () => {
    server = await startSample({ limits: { body: 2000, depth: 5 } });
    hasty = await startSample({ limits: { idle: 100, headers: 300 } });
  });
  afterAll(() => Promise.all([server.app.close(), hasty.app.close()]));

  const ask = (...request: Parameters<SampleServer['ask']>) => server.ask(...request);
  const patch = (body: string, headers: Record<string, string> = {}) =>
    ask(ONE, { method: 'PATCH', body, headers: { 'content-type': 'application/json', ...headers } });

  it('as JSON of limited depth and size', async () => {
    expect(await patch('[[[[[[]]]]]]')).toMatchObject({
      status: 422,
      body: {
        detail: [
          {
            type: 'json_invalid',
            loc: ['body', 5],
            ctx: { error: 'The nesting is deeper than the limit of 5 levels (MAX_DEPTH)' },
          },
        ],
      },
    });
    expect(await patch(JSON.stringify({ a: 'x'.repeat(3000) }))).toMatchObject({
      status: 413,
      body: { detail: 'The request body is larger than the limit of 2000 bytes (BODY_MAX_BYTES).' },
    });
  });

  it('whatever JSON subtype they have, and none is a missing body', async () => {
    expect((await patch('{}', { 'content-type': 'application/merge-patch+json; charset=utf-8' })).status).toBe(200);
    expect(await patch('')).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body'], input: null }] },
    });
  });

  describe('when the client waits for 100 before it sends one', () => {
    const head = (length: number, more = 'x-api-key: owner\r\n') =>
      `POST /v2/deployments HTTP/1.1\r\nhost: x\r\n${more}content-type: application/json\r\n` +
      `expect: 100-continue\r\ncontent-length: ${length}\r\n`;

    it('and it is told to go on once', async () => {
      const answer = await server.sendRaw(`${head(2)}connection: close\r\n\r\n`, '{}');
      expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
    });

    it.each([
      [
        'too long a body',
        2001,
        undefined,
        413,
        'The request body is larger than the limit of 2000 bytes (BODY_MAX_BYTES).',
      ],
      ['no key', 2, '', 401, 'Invalid token'],
    ])('and is refused by the head, with %s', async (_, length, more, status, detail) => {
      const answer = await server.sendRaw(`${head(length, more)}\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toMatch(/connection: close/i);
      expect(answer).toContain(JSON.stringify({ detail }));
    });
  });

  it('not at all where their announced length is beyond the limit', async () => {
    const answer = await server.sendRaw(
      `POST /v2/deployments HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\ncontent-length: 2001\r\n\r\n`,
      '{',
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it('not at all where the route wants the stream', async () => {
    const answer = await ask('/api/v1/datasets/stream', {
      method: 'POST',
      body: '{nope'.repeat(1000),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.body).toEqual({ bytes: 5000, body: 'undefined' });
  });

  it('tells the problems of path and body together', async () => {
    const answer = await ask('/v2/deployments/x', {
      method: 'PATCH',
      body: '[]',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.body).toMatchObject({ detail: [{ loc: ['path', 'deployment_id'] }, { loc: ['body'] }] });
  });

  it('refuses one value under two names with different values', async () => {
    const answer = await patch('{"source_revision_config":{"graph_config_path":"a","langgraph_config_path":"b"}}');
    expect(answer).toMatchObject({
      status: 400,
      body: {
        detail: 'The members graph_config_path and langgraph_config_path mean the same but have different values.',
      },
    });
  });

  describe('gives up on slow clients', () => {
    const head = `POST /v2/deployments HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n`;

    it('that stop in the middle of a body, with 408', async () => {
      expect(await hasty.sendRaw(head, '{"a":')).toMatch(
        /^HTTP\/1.1 408 [^]*\{"detail":"The request took too long to arrive."\}$/,
      );
    });

    it.each(['/v2/deployments', '/api/v1/datasets/stream'])(
      'that end in the middle of a body, with 408: %s',
      async (path) => {
        const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
        let received = '';
        socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
        socket.end(`${head.replace('/v2/deployments', path)}{"a":`);
        await new Promise((resolve) => socket.once('end', resolve).once('error', resolve));
        socket.destroy();
        expect(received).toMatch(/^HTTP\/1.1 408 [^]*\{"detail":"The request ended early."\}$/);
      },
    );

    it('that stop in the middle of a stream', async () => {
      expect(await hasty.sendRaw(head.replace('/v2/deployments', '/api/v1/datasets/stream'), 'abc')).not.toMatch(
        / 200 /,
      );
    });

    it('that do not finish the head', async () => {
      expect(await hasty.sendRaw('GET /v2/deployments HTTP/1.1\r\nhost: x\r\n')).toMatch(/^HTTP\/1.1 408 /);
    });
  });

  it('takes no client that goes away for a failure of its own', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const count = (msg: string) => server.lines.filter((line) => line.msg === msg).length;
    const [away, failures] = [count('A client went away'), count('A request failed')];
    const head = 'POST /api/v1/datasets/stream HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\ncontent-length: 100\r\n\r\n';
    socket.write(`${head}abc`, () => socket.destroy());
    while (count('A client went away') === away) await wait(5);
    expect(count('A request failed')).toBe(failures);
  });
});
