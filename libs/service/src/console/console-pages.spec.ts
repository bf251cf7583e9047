import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { createServer } from '@fairlead/edge';
import { Scope } from '@fairlead/api';
import { Unauthorized } from '@fairlead/schema';
import { Controller, Get, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { readConsole } from './console-files';
import { consolePages } from './console-pages';

@Controller()
class Api {
  @Get(['v1/things', 'v2/deployments', 'api/v1/datasets/:dataset_id', 'api/v1/sessions'])
  @Scope('public')
  show() {
    return { api: true };
  }

  @Get('v1/kept')
  @Scope('read')
  kept() {
    return {};
  }
}
@Module({ controllers: [Api] })
class ApiModule {}

const PAGE = '<!doctype html><title>Fairlead</title>';
const SCRIPT = 'console.log(1);\n'.repeat(100);
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-dest': 'document' };

let folder: string;
let app: NestFastifyApplication;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>');
  writeFileSync(join(folder, 'assets', 'main-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'main-abc.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'main-abc.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'main-abc.js.map'), '{}');
  app = await createServer(ApiModule, {
    logger: pino({ level: 'silent' }),
    authenticate: () => Promise.reject(new Unauthorized()),
    pages: consolePages(readConsole(folder)!),
  });
  await app.listen(0, '127.0.0.1');
  ({ port } = app.getHttpServer().address() as { port: number });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

/** `fetch` would set the headers of a browser itself, and decode what is compressed. */
function ask(path: string, headers: Record<string, string> = BROWSER, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end();
  });
}

it.each([
  '/',
  '/login',
  '/o/-/experiments',
  '/o/x/datasets/y/compare?selectedSessions=a%2Cb',
  '/hub/a/b',
  '/public/t/d',
  '/public/t/compare',
  '/public/t/shared-run',
])('shows the page at %s to a browser, and to nobody else', async (path) => {
  const { status, headers, body } = await ask(path);
  expect({ status, body: body.toString() }).toEqual({ status: 200, body: PAGE });
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  const again = await ask(path, { ...BROWSER, 'if-none-match': String(headers.etag) });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  expect((await ask(path, BROWSER, 'HEAD')).body.length).toBe(0);
  for (const [accept, method] of [
    ['application/json', 'GET'],
    ['*/*', 'GET'],
    [BROWSER.accept, 'POST'],
  ]) {
    const other = await ask(path, { accept: accept! }, method);
    expect({ status: other.status, json: JSON.parse(other.body.toString()) }).toEqual({
      status: 404,
      json: { detail: 'Not Found' },
    });
  }
});

it('lets the page load and call its own server only, and make no code of text', async () => {
  const { headers } = await ask('/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toContain('unsafe');
  expect(headers).toMatchObject({ 'cross-origin-opener-policy': 'same-origin', 'referrer-policy': 'no-referrer' });
});

it('gives files compressed to who takes that, to be kept for ever', async () => {
  const path = '/assets/main-abc.js';
  const get = (coding: string) => ask(path, { 'accept-encoding': coding });
  const [brotli, gzip, plain, refused] = await Promise.all(
    ['gzip, deflate, br', 'gzip', 'identity', 'br;q=0, gzip;q=0'].map(get),
  );
  expect(brotliDecompressSync(brotli!.body).toString()).toBe(SCRIPT);
  expect(gunzipSync(gzip!.body).toString()).toBe(SCRIPT);
  expect([plain!.body.toString(), refused!.body.toString()]).toEqual([SCRIPT, SCRIPT]);
  expect(brotli!.headers).toMatchObject({
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'Accept-Encoding',
  });
  expect(new Set([brotli, gzip, plain].map((answer) => answer!.headers.etag)).size).toBe(3);
  expect((await ask('/favicon.svg', {})).headers['content-type']).toBe('image/svg+xml');
});

it('answers what it does not have in JSON, also a browser', async () => {
  const missing = ['/assets/gone.js', '/assets/main-abc.js.map', '/assets/..%2findex.html', '/index.html'];
  for (const path of [...missing, '/v1/nothing', '/v2/nothing', '/api/v1/nothing', '/api-host/v2/nothing', '/other']) {
    const { status, body } = await ask(path);
    expect({ path, status, json: JSON.parse(body.toString()) }).toEqual({
      path,
      status: 404,
      json: { detail: 'Not Found' },
    });
  }
});

it('leaves every route of the API to programs and browsers alike', async () => {
  for (const path of ['/v1/things', '/v2/deployments', '/api/v1/datasets/1', '/sessions', '/api-host/v2/deployments']) {
    expect([path, JSON.parse((await ask(path)).body.toString())]).toEqual([path, { api: true }]);
  }
  expect((await ask('/v1/kept')).status).toBe(401);
});

it.each([
  ['/datasets/1', '/o/-/datasets/1'],
  ['/datasets/1/compare?selectedSessions=a%2Cb', '/o/-/datasets/1/compare?selectedSessions=a%2Cb'],
  ['/datasets/1/e/2', '/o/-/datasets/1/e/2'],
  ['/projects/p/1', '/o/-/projects/p/1'],
  ['/projects/p/1/r/2?poll=true', '/o/-/projects/p/1/r/2?poll=true'],
  ['/host/deployments', '/o/-/host/deployments'],
  ['/host/deployments/1', '/o/-/host/deployments/1'],
])('sends a browser from %s, as clients print it, to %s', async (path, to) => {
  for (const printed of [path, `/api-host${path}`]) {
    const { status, headers } = await ask(printed);
    expect([printed, status, headers.location, headers.vary]).toEqual([printed, 302, to, 'Sec-Fetch-Dest']);
  }
});

it('sends a browser from an address of a page that a command line has put its prefix before to that page', async () => {
  for (const path of ['/', '/o/w/host/deployments/1', '/public/t/d', '/public/t/r?run=1', '/hub/some/prompt']) {
    const { status, headers } = await ask(`/api-host${path}`);
    expect([status, headers.location]).toEqual([302, path]);
  }
});

it('does not send programs away from what is API as well', async () => {
  const programs: Record<string, string>[] = [
    {},
    { accept: BROWSER.accept },
    { ...BROWSER, 'sec-fetch-dest': 'empty' },
  ];
  for (const headers of programs) {
    expect(JSON.parse((await ask('/datasets/1', headers)).body.toString())).toEqual({ api: true });
  }
});

it('serves nothing where there is no build', () => {
  expect(readConsole(join(folder, 'nothing'))).toBeUndefined();
});
