import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Scope } from '@fairlead/api';
import { Controller, Get, Header, Module, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { createServer } from '../server';

const LONG = { text: 'long '.repeat(1000) };

@Controller()
class Answers {
  @Get('compressed')
  @Scope('public', { compressed: true })
  compressed() {
    return LONG;
  }

  @Get('short')
  @Scope('public', { compressed: true })
  short(@Query('text') text: string) {
    return { text };
  }

  @Get('plain')
  @Scope('public')
  plain() {
    return LONG;
  }

  @Get('tagged')
  @Header('etag', '"1"')
  @Scope('public', { compressed: true })
  tagged() {
    return LONG;
  }

  @Get('text')
  @Header('content-type', 'text/plain; charset=utf-8')
  @Scope('public', { compressed: true })
  text() {
    return LONG.text;
  }
}
@Module({ controllers: [Answers] })
class AnswersModule {}

let app: NestFastifyApplication;
beforeAll(async () => {
  app = await createServer(AnswersModule, {
    logger: pino({ level: 'silent' }),
    authenticate: () => Promise.resolve(undefined),
    edge: { cors: ['https://example.com'] },
  });
});
afterAll(() => app.close());

const get = (url: string, coding?: string) =>
  app.inject({ method: 'GET', url, headers: coding === undefined ? {} : { 'accept-encoding': coding } });

it.each([
  ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
])('compresses for a client that takes %s with %s', async (accepted, coding, decompress) => {
  const { headers, rawPayload } = await get('/compressed', accepted);
  expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'origin, accept-encoding' });
  expect(headers['content-length']).toBe(String(rawPayload.length));
  expect(rawPayload.length).toBeLessThan(500);
  expect(JSON.parse(decompress(rawPayload).toString())).toEqual(LONG);
});

it('sends as it is what a client takes no coding for', async () => {
  for (const coding of [undefined, 'identity', 'deflate', 'gzip;q=0, br;q=0']) {
    const { headers, json } = await get('/compressed', coding);
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'origin, accept-encoding']);
    expect(json()).toEqual(LONG);
  }
});

it.each(['/plain', '/short?text=a', '/tagged', '/text'])('does not compress %s', async (path) => {
  const { statusCode, headers } = await get(path, 'gzip, br');
  expect([statusCode, headers['content-encoding']]).toEqual([200, undefined]);
});

it('answers more than it compresses at a time', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/compressed', 'gzip')));
  const texts = answers.map(({ headers, rawPayload }) =>
    (headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload).toString(),
  );
  expect(new Set(texts)).toEqual(new Set([JSON.stringify(LONG)]));
  expect(answers.some(({ headers }) => headers['content-encoding'] === undefined)).toBe(true);
});
