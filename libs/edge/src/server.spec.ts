import { Controller, Get, Module } from '@nestjs/common';
import pino from 'pino';
import { Scope, routes } from '@fairlead/api';
import { createServer } from '.';
import { answerTo } from '@fairlead/api';
import { securityHeaders } from './headers/security-headers';
import { type SampleServer, startSample } from './testing/sample-server';

const ONE = '/v2/deployments/12345678-1234-5678-1234-567812345678';

let gate: Promise<void>;
let started: () => void;

@Controller()
class SlowController {
  @Get('v2/slow')
  @Scope('read')
  async slow() {
    started();
    await gate;
    return { done: true };
  }
}
@Module({ controllers: [SlowController] })
class SlowModule {}

describe('The server', () => {
  let server: SampleServer;
  beforeAll(async () => {
    server = await startSample();
  });
  afterAll(() => server.app.close());

  const ask = (...request: Parameters<SampleServer['ask']>) => server.ask(...request);
  const patch = (body: string, headers: Record<string, string> = {}) =>
    ask(ONE, { method: 'PATCH', body, headers: { 'content-type': 'application/json', ...headers } });

  describe('lets in', () => {
    it('keys whose scope covers the route, and anyone on public routes', async () => {
      expect((await ask('/v2/deployments', {}, 'reader')).status).toBe(200);
      for (const key of ['writer', 'owner']) expect((await ask('/v2/deployments', {}, key)).status).toBe(200);
      for (const key of ['writer', 'owner']) expect((await ask(ONE, { method: 'DELETE' }, key)).status).toBe(204);
      expect((await ask('/api/v1/info', {}, '')).status).toBe(200);
    });

    it('nobody without a known key, before reading the body', async () => {
      const answer = await ask(
        ONE,
        { method: 'PATCH', body: '{nope', headers: { 'content-type': 'application/json' } },
        'x',
      );
      expect(answer).toMatchObject({ status: 401, body: { detail: 'Invalid token' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });

    it('no key without the scope, which it names', async () => {
      const answer = await ask(ONE, { method: 'DELETE' }, 'reader');
      expect(answer).toMatchObject({ status: 403, body: { detail: 'Forbidden' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="write"');
    });

    it('no route that declares no scope: it does not start', async () => {
      @Controller()
      class Careless {
        @Get('v1/open')
        open() {
          return {};
        }
      }
      @Module({ controllers: [Careless] })
      class CarelessModule {}
      const start = createServer(CarelessModule, {
        logger: pino({ level: 'silent' }),
        authenticate: () => Promise.reject(new Error()),
      });
      await expect(start).rejects.toThrow('The route GET /v1/open declares no scope');
    });
  });

  describe('answers', () => {
    it('with a request id everywhere, the client’s when it is sane', async () => {
      const id = (answer: { headers: Headers }) => answer.headers.get('x-request-id');
      expect(id(await ask('/v2/deployments', { headers: { 'x-request-id': 'abc-1' } }))).toBe('abc-1');
      for (const odd of ['a b', 'x'.repeat(129)]) {
        expect(id(await ask('/nowhere', { headers: { 'x-request-id': odd } }))).toMatch(/^[0-9a-f-]{36}$/);
      }
      expect(id(await ask('/v2/deployments', {}, 'x'))).toMatch(/^[0-9a-f-]{36}$/);
      expect(id(await ask('/v2/deployments/%zz'))).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('405 with what is allowed, 204 to OPTIONS, HEAD like GET', async () => {
      const wrong = await ask(ONE, { method: 'PUT' });
      expect([wrong.status, wrong.body, wrong.headers.get('allow')]).toEqual([
        405,
        { detail: 'Method Not Allowed' },
        'DELETE, GET, HEAD, OPTIONS, PATCH',
      ]);
      const options = await ask('/v2/deployments', { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
      expect(await ask('/v2/deployments', { method: 'HEAD' })).toMatchObject({ status: 200, body: undefined });
    });

    it('OPTIONS of a path with what that path allows, not with what one that takes parameters would', async () => {
      const allowed = async (path: string) => (await ask(path, { method: 'OPTIONS' })).headers.get('allow');
      expect(await allowed('/api/v1/datasets/upload-experiment')).toBe('OPTIONS, POST');
      expect(await allowed('/api/v1/datasets/another')).toBe('DELETE, OPTIONS');
    });

    it('400 to a request of HTTP/1.1 without a Host, but not to one of HTTP/1.0', async () => {
      const head = 'x-api-key: owner\r\nconnection: close\r\n\r\n';
      expect(await server.sendRaw(`GET /v2/deployments HTTP/1.1\r\n${head}`)).toMatch(
        /^HTTP\/1.1 400 [^]*\{"detail":"The request has no Host header."\}$/,
      );
      expect(await server.sendRaw(`GET /v2/deployments HTTP/1.0\r\n${head}`)).toMatch(/^HTTP\/1.1 200 /);
    });

    it.each([
      ['GET', '/v2/deployments'],
      ['GET', '/api/v1/info'],
      ['POST', '/v2/deployments'],
      ['DELETE', ONE],
    ])('400 to a reason of more than 1,000 characters: %s %s', async (method, path) => {
      const answer = (reason: string) => ask(path, { method, headers: { 'x-reason': reason } });
      expect((await answer('x'.repeat(1000))).status).not.toBe(400);
      expect(await answer('x'.repeat(1001))).toMatchObject({
        status: 400,
        body: { detail: 'The header x-reason is longer than 1000 characters.' },
      });
    });

    it('in the names that the path asks for', async () => {
      expect((await ask('/v2/deployments')).body).toMatchObject({ dialect: 'specification' });
      expect((await ask('/api-host/v2/deployments?limit=3')).body).toMatchObject({ dialect: 'wire', limit: 3 });
    });

    it.each([
      ['/v2/deployments/%zz', 400],
      [`/v2/deployments/${'x'.repeat(1100)}`, 414],
      [`/v2/deployments?name=${'x'.repeat(20_000)}`, 431],
      ['//v2//deployments/', 200],
    ])('a strange address cleanly: %#', async (path, status) => {
      expect(await ask(path)).toMatchObject({ status });
    });

    it('nonsense with 400, under the security headers of every answer', async () => {
      const answer = await server.sendRaw('HELLO\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1.1 400 [^]*x-request-id: [^]*\{"detail":"The request is not valid HTTP."\}$/);
      for (const [name, value] of Object.entries(securityHeaders(false))) {
        expect(answer).toContain(`\r\n${name}: ${value}\r\n`);
      }
    });

    it('RFC 9457 to those who ask for it', async () => {
      const answer = await patch('{"source_config":{"labels":[]},"revision_source":"zip"}', {
        accept: 'application/problem+json',
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([422, 'application/problem+json']);
      expect(answer.body).toMatchObject({
        type: 'about:blank',
        title: 'Unprocessable Entity',
        status: 422,
        errors: [
          { pointer: '#/revision_source', in: 'body', type: 'literal_error' },
          { pointer: '#/source_config/labels', in: 'body', detail: 'Input should be a valid dictionary' },
        ],
      });
      expect(answer.headers.get('x-error-count')).toBe('2');
      const problems = async (body: string) =>
        (await patch(body, { accept: 'application/problem+json' })).body as { errors: object[] };
      expect((await problems('{"source_config":{"labels":{"a/b~c":1e400}}}')).errors).toMatchObject([
        { pointer: '#/source_config/labels/a~1b~0c', in: 'body', type: 'finite_number' },
      ]);
      expect((await problems('{nope')).errors).toMatchObject([{ pointer: '#', in: 'body', type: 'json_invalid' }]);
      const missing = await ask('/nowhere', {
        headers: { accept: 'application/problem+json', 'x-request-id': 'mine' },
      });
      const told = { title: 'Not Found', status: 404, detail: 'Not Found', request_id: 'mine' };
      expect(missing.body).toMatchObject(told);
      const { request_id: made } = answer.body as { request_id: string };
      expect(made).toBe(answer.headers.get('x-request-id'));
    });

    it('unknown errors with nothing but 500, and logs them', async () => {
      expect(await ask('/v2/broken')).toMatchObject({ status: 500, body: { detail: 'Internal Server Error' } });
      expect(server.lines).toContainEqual(
        expect.objectContaining({
          level: 50,
          err: expect.objectContaining({ message: 'the password is hunter2' }) as unknown,
        }),
      );
    });

    it.each([
      ['code=57P01', 503],
      ['code=ECONNREFUSED', 503],
      ['code=40001', 503],
      ['code=25P03', 503],
      ['code=53100', 503],
      ['code=58030', 503],
      ['code=XX000', 503],
      ['code=ENOSPC', 503],
      ['message=timeout+exceeded+when+trying+to+connect', 503],
      // The time limit for reads.
      ['code=57014', 400],
      ['code=22003', 400],
    ])('a failure of the database (%s) with %i', async (query, status) => {
      const answer = await ask(`/v2/broken?${query}`);
      expect(answer.status).toBe(status);
      expect(answer.headers.has('retry-after')).toBe(status > 500);
    });
  });

  it('answers 504 where a statement of a write took too long', () => {
    expect(answerTo(Object.assign(new Error(), { code: '57014' })).problem.status).toBe(504);
  });

  it('answers 503 where there was no memory for a body, and 500 where an argument is wrong', () => {
    expect(answerTo(new RangeError('Array buffer allocation failed')).problem.headers).toHaveProperty('retry-after');
    expect(answerTo(new RangeError('Invalid array length')).problem.status).toBe(500);
  });

  it('finishes requests under way before it closes', async () => {
    let finish = () => undefined as void;
    const begun = new Promise<void>((begin) => (started = begin));
    gate = new Promise((open) => (finish = open));
    const closing = await startSample({}, SlowModule);
    const answer = fetch(`${closing.url}/v2/slow`, { headers: { 'x-api-key': 'reader' } });
    await begun;
    const closed = closing.app.close();
    finish();
    expect(await (await answer).json()).toEqual({ done: true });
    await closed;
    await expect(fetch(`${closing.url}/v2/slow`)).rejects.toThrow();
  });

  it('logs writes and failures without queries, headers or bodies', async () => {
    await ask('/v2/deployments?secret=1');
    await patch('{"source_config":null}', { 'x-request-id': 'logged' });
    const line = server.lines.find(({ requestId }) => requestId === 'logged');
    expect(line).toMatchObject({
      level: 30,
      method: 'PATCH',
      path: ONE,
      status: 200,
      tenant: 'tenant-1',
      key: 'key-1',
    });
    expect(JSON.stringify(server.lines)).not.toMatch(/secret=1|"owner"/);
  });

  it('lists its routes', () => {
    expect(routes(server.app)).toContainEqual({
      method: 'PATCH',
      path: '/v2/deployments/:deployment_id',
      scope: 'write',
      stream: false,
    });
    expect(routes(server.app)).toHaveLength(10);
  });
});
