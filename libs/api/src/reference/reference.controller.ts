import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Controller, Get, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { anyObject, type Infer, note, NotFound, object, str } from '@fairlead/schema';
import { Scope } from '../route/access';
import { Answers, asText } from '../route/answers';
import { Asset } from '../route/asset';
import { Area, Describe } from '../route/describe';
import { Path } from '../route/parameters';
import { routes } from '../route/routes';
import { VERSION } from '../route/version';
import { openApi } from './openapi';
import { PAGE, SCRIPT, STYLE } from './page';

/**
 * Content security policy of the page: nothing from other hosts, no inline scripts. Code samples need style attributes.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const filePath = object({ file: note(str(), 'Name of a script or style sheet that the page loads.') });

/** Files by name: their media type, and their text where they are no file of swagger-ui-dist. */
const FILES: ReadonlyMap<string, { readonly type: string; readonly text?: string }> = new Map([
  ['swagger-ui.css', { type: CSS }],
  ['swagger-ui-bundle.js', { type: JAVASCRIPT }],
  ['page.css', { type: CSS, text: STYLE }],
  ['page.js', { type: JAVASCRIPT, text: SCRIPT }],
]);
const assets = new Map<string, Promise<Asset>>();

/** Serves the OpenAPI document of all routes of the server, and a page that shows it. */
@Area('Service')
@Controller()
export class ReferenceController {
  private document?: Asset;

  constructor(private readonly host: HttpAdapterHost) {}

  @Get('openapi.json')
  @Scope('public')
  @Describe({ summary: 'Get this document', gives: ['ETag'] })
  @Answers({ 200: asText(anyObject()), 304: null })
  openApi(@Res({ passthrough: true }) reply: FastifyReply): Buffer | undefined {
    const app = { getHttpAdapter: () => this.host.httpAdapter };
    this.document ??= new Asset(
      Buffer.from(JSON.stringify(openApi(routes(app), VERSION))),
      'application/json; charset=utf-8',
      'no-cache',
    );
    return this.document.answer(reply);
  }

  @Get('docs')
  @Scope('public')
  @Describe({ summary: 'Read this document in a browser' })
  @Answers({ 200: { content: { 'text/html': str() } } })
  page(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY);
    return PAGE;
  }

  @Get('docs/:file')
  @Scope('public')
  @Describe({ summary: 'Get a script or style sheet of that page', gives: ['ETag'] })
  @Answers({ 200: { content: { 'text/css': str(), 'text/javascript': str() } }, 304: null })
  async file(
    @Path(filePath) { file: name }: Infer<typeof filePath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    if (!FILES.has(name)) throw new NotFound();
    return (await assetOf(name)).answer(reply);
  }
}

/** Returns a file, which is read once. */
function assetOf(name: string): Promise<Asset> {
  const known = assets.get(name);
  if (known) return known;
  const asset = read(name);
  assets.set(name, asset);
  asset.catch(() => assets.delete(name));
  return asset;
}

async function read(name: string): Promise<Asset> {
  const { type, text } = FILES.get(name)!;
  const file = join(dirname(require.resolve('swagger-ui-dist/package.json')), name);
  return new Asset(text === undefined ? await readFile(file) : Buffer.from(text), type, 'public, max-age=3600');
}
