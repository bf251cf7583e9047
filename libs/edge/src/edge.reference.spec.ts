import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Delete, Get, HttpCode, Module, Patch } from '@nestjs/common';
import { Answers, Area, Body, Describe, openApi, Path, Query, ReferenceController, routes, Scope } from '@fairlead/api';
import { type Infer, int, list, note, nullable, object, optional, secret, str, uuid } from '@fairlead/schema';
import { inBrowser, startBrowser } from './testing/browser';
import { type SampleServer, startSample } from './testing/sample-server';
import { Components } from '@fairlead/api';

const thingPath = object({ id: uuid() });
const patch = object('ThingPatch', { token: optional(secret(str())) });
const thingsQuery = object({
  owner: str(),
  kind: optional(str()),
  limit: optional(note(int({ ge: 1 }), 'How many.'), 20),
});
const thing = object('Thing', { id: uuid(), 'next?': nullable(str()) });

@Area('Service')
@Controller()
class ThingsController {
  @Get(['v1/things', 'v1/managed/things'])
  @Scope('read', { strict: true })
  @Describe({ summary: 'List things', gives: ['Link'] })
  @Answers({ 200: list(thing) })
  list(@Query(thingsQuery) { owner }: Infer<typeof thingsQuery>) {
    return [{ id: owner }];
  }

  @Patch('v1/things/:id')
  @Describe({ summary: 'Change a thing', takes: ['If-Match'] })
  @Answers({ 200: thing })
  @Scope('write', { strict: true })
  change(@Body(patch) { token }: Infer<typeof patch>, @Path(thingPath) { id }: Infer<typeof thingPath>) {
    return { id, next: token ?? null };
  }

  @Delete('v1/things/:id')
  @HttpCode(204)
  @Scope('admin', { strict: true })
  @Describe({ summary: 'Delete a thing' })
  @Answers({ 204: null, 409: 'It is in use.' })
  remove(@Path(thingPath) path: Infer<typeof thingPath>) {
    return void path;
  }

  @Get('v1/open')
  @Scope('public', { strict: true })
  @Describe({ summary: 'Look' })
  @Answers({ 200: { content: { 'text/plain': str() } } })
  look() {
    return 'fine';
  }

  @Get('v1/untold')
  @Scope('public', { strict: true })
  untold() {
    return {};
  }
}
/** Handlers that do not fit what they declare: the compiler refuses each. */
export class MistakenController {
  // @ts-expect-error The schema has another type for `id`.
  @Answers({ 200: thing })
  otherType() {
    return { id: 1 };
  }

  // @ts-expect-error The schema needs `id`.
  @Answers({ 200: list(thing) })
  async missing() {
    return [{ next: null }];
  }

  // @ts-expect-error The schema has no `owner`.
  @Answers({ 200: list(thing) })
  more() {
    return [{ id: 'a', owner: 'b' }];
  }

  // @ts-expect-error The answer has no body.
  @Answers({ 204: null })
  body() {
    return 'gone';
  }

  // @ts-expect-error The schema gives a number for `limit`.
  parameter(@Query(thingsQuery) query: { readonly limit: string }) {
    return query;
  }
}

@Module({ controllers: [ThingsController, ReferenceController] })
class ThingsModule {}

let server: SampleServer;
beforeAll(async () => {
  server = await startSample({}, ThingsModule);
});
afterAll(() => server.app.close());

// eslint-disable-next-line @typescript-eslint/no-explicit-any
const operations = (): any => openApi(routes(server.app), '1.2.3').paths;

describe('The document', () => {
  it('has the routes that are described, in the spelling of OpenAPI', () => {
    const found = Object.entries<object>(operations()).map(
      ([path, methods]) => `${path}: ${Object.keys(methods).join()}`,
    );
    expect(found).toEqual([
      '/v1/things: get',
      '/v1/managed/things: get',
      '/v1/things/{id}: patch,delete',
      '/v1/open: get',
      '/openapi.json: get',
      '/docs: get',
      '/docs/{file}: get',
    ]);
  });

  it('names operations after their handlers, and says where they belong and what they need', () => {
    const paths = operations();
    expect(paths['/v1/things'].get).toMatchObject({
      operationId: 'thingsList',
      tags: ['Service'],
      summary: 'List things',
    });
    expect(paths['/v1/managed/things'].get.operationId).toBe('thingsListManaged');
    expect(paths['/v1/things/{id}'].patch.security).toEqual([{ apiKey: ['write'] }, { bearer: ['write'] }]);
    expect(paths['/v1/open'].get.security).toEqual([]);
  });

  it('tells parameters from the schemas that check them: absent, never null, nor empty when needed', () => {
    const { get } = operations()['/v1/things'];
    const limit = { type: 'integer', minimum: 1, default: 20 };
    expect(get.parameters).toEqual([
      { name: 'owner', in: 'query', required: true, schema: { type: 'string', minLength: 1 } },
      { name: 'kind', in: 'query', schema: { type: 'string' } },
      { name: 'limit', in: 'query', description: 'How many.', schema: limit },
      { $ref: '#/components/parameters/X-Tenant-Id' },
    ]);
    expect(operations()['/v1/things/{id}'].patch.parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
      { $ref: '#/components/parameters/X-Tenant-Id' },
      { $ref: '#/components/parameters/If-Match' },
    ]);
  });

  it('adds the errors that come from the nature of a route to those that it tells of', () => {
    const paths = operations();
    const of = ({ responses }: { responses: object }) => Object.keys(responses).join(' ');
    expect(of(paths['/v1/open'].get)).toBe('200 400 422 429 5XX');
    expect(of(paths['/v1/things'].get)).toBe('200 400 401 403 422 429 5XX');
    expect(of(paths['/v1/things/{id}'].patch)).toBe('200 400 401 403 404 408 412 413 415 422 429 5XX');
    expect(of(paths['/v1/things/{id}'].delete)).toBe('204 400 401 403 404 409 422 429 5XX');
    expect(paths['/v1/things/{id}'].delete.responses[409]).toEqual({
      $ref: '#/components/responses/Conflict',
      description: 'It is in use.',
    });
    expect(paths['/v1/things/{id}'].delete.responses[204]).not.toHaveProperty('content');
  });

  it('holds each titled schema once, and secrets only to be written', () => {
    const { components } = openApi(routes(server.app), '1.2.3');
    expect(components.schemas).toMatchObject({
      Thing: { type: 'object', properties: { id: { format: 'uuid' } }, required: ['id'] },
      ThingPatch: { properties: { token: { anyOf: [{ writeOnly: true, format: 'password' }, { type: 'null' }] } } },
    });
    expect(operations()['/v1/things'].get.responses[200].content['application/json'].schema).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Thing' },
    });
  });

  it('has no place for two schemas of one name', () => {
    const components = new Components();
    expect(components.refer(thing.json)).toEqual({ $ref: '#/components/schemas/Thing' });
    expect(components.refer({ ...thing.json, description: 'here' })).toEqual({
      $ref: '#/components/schemas/Thing',
      description: 'here',
    });
    const other = object('Thing', {}).json;
    expect(() => components.refer(other)).toThrow('Two different schemas are called Thing');
  });
});

describe('The reference', () => {
  it('is there for everybody, and loads scripts of its own only', async () => {
    const document = await server.ask('/openapi.json', {}, '');
    expect(document.body).toMatchObject({ openapi: '3.1.1', info: { title: 'Fairlead' } });
    const page = await fetch(`${server.url}/docs`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';");
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const answer = await fetch(server.url + file);
      const type = file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
      expect({ file, status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        file,
        status: 200,
        type,
      });
    }
  });

  it('is sent again only to who does not have it', async () => {
    for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js', '/docs/page.css']) {
      const first = await fetch(server.url + path);
      const etag = first.headers.get('etag')!;
      expect(etag).toMatch(/^"[\w-]{43}"$/);
      expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(100);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await fetch(server.url + path, { headers: { 'if-none-match': known } });
        expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
      }
      const other = await fetch(server.url + path, { headers: { 'if-none-match': '"other"' } });
      expect([other.status, (await other.arrayBuffer()).byteLength > 100]).toEqual([200, true]);
    }
  });

  it('is in memory once, and closes nothing, however many clients ask for it and read nothing', async () => {
    const small = await startSample({ edge: { requests: { total: 8, perKey: 8 } } }, ThingsModule);
    const { port } = new URL(small.url);
    const memory = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
    await fetch(`${small.url}/docs/swagger-ui-bundle.js`).then((answer) => answer.arrayBuffer());
    const before = memory();
    const request = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20);
    const begun: string[] = [];
    const sockets: Socket[] = [];
    for (let n = 0; n < 20; n++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      socket.write(request);
      begun.push(((await once(socket, 'data')) as [Buffer])[0].toString('latin1', 9, 12));
      socket.pause();
    }
    expect(new Set(begun)).toEqual(new Set(['200']));
    expect((await small.ask('/v1/things?owner=me')).status).toBe(200);
    // Each connection asked for 30 MB.
    expect(memory() - before).toBeLessThan(100 * 1024 * 1024);
    for (const socket of sockets) socket.destroy();
    await small.app.close();
  });

  it('gives out no other file', async () => {
    for (const name of [
      'package.json',
      '..%2fpackage.json',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      'index.html',
      'toString',
    ]) {
      expect(await server.ask(`/docs/${name}`, {}, '')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
    }
  });
});

inBrowser('a browser', () => {
  it('shows the operations, tries one out, and asks nobody else', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      const complaints: string[] = [];
      const elsewhere: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('request', (request) => {
        if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) elsewhere.push(request.url());
      });
      await page.goto(`${server.url}/docs`);
      await page.click('text=Service');
      await page.click('#operations-Service-thingsLook button.opblock-summary-control');
      await page.click('#operations-Service-thingsLook .try-out__btn');
      await page.click('#operations-Service-thingsLook .execute');
      await page.waitForSelector('#operations-Service-thingsLook .live-responses-table .response-col_status');
      expect(await page.textContent('#operations-Service-thingsLook .live-responses-table')).toContain('fine');
      expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] });
    } finally {
      await browser.close();
    }
  });
});
