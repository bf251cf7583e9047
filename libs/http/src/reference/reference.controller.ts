import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../access';
import { Area, Describe } from '../describe';
import { NotFound } from '../errors';
import { path } from '../request';
import { routes } from '../routes';
import { object, str } from '../schema';
import { VERSION } from '../version';
import { openApi } from './openapi';
import { PAGE, SCRIPT, STYLE } from './page';
import { free, text } from './shapes';

/** Nothing from elsewhere, nothing inline. The styles of its code samples are set as attributes. */
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
const filePath = object({ file: str() });

/** By name: the media type, and the text of what is not a file of swagger-ui-dist. */
const FILES: ReadonlyMap<string, { readonly type: string; readonly text?: string }> = new Map([
  ['swagger-ui.css', { type: CSS }],
  ['swagger-ui-bundle.js', { type: JAVASCRIPT }],
  ['page.css', { type: CSS, text: STYLE }],
  ['page.js', { type: JAVASCRIPT, text: SCRIPT }],
]);

/** The OpenAPI document of all routes of the server, and a page to read it. */
@Area('Service')
@Controller()
export class ReferenceController {
  private document?: string;

  constructor(private readonly host: HttpAdapterHost) {}

  @Get('openapi.json')
  @Access('public')
  @Describe({ summary: 'Get this document', answers: { 200: free } })
  openApi(@Res({ passthrough: true }) reply: FastifyReply): string {
    const app = { getHttpAdapter: () => this.host.httpAdapter };
    this.document ??= JSON.stringify(openApi(routes(app), VERSION));
    void reply.header('content-type', 'application/json; charset=utf-8');
    return this.document;
  }

  @Get('docs')
  @Access('public')
  @Describe({ summary: 'Read this document in a browser', answers: { 200: { content: { 'text/html': text } } } })
  page(@Res({ passthrough: true }) reply: FastifyReply): string {
    void reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY);
    return PAGE;
  }

  @Get('docs/:file')
  @Access('public')
  @Describe({
    summary: 'Get a script or style sheet of that page',
    path: filePath,
    answers: { 200: { content: { 'text/css': text, 'text/javascript': text } } },
  })
  async file(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    const { file: name } = path(filePath, request);
    const file = FILES.get(name);
    if (!file) throw new NotFound();
    void reply.type(file.type).header('cache-control', 'public, max-age=3600');
    return file.text ?? readFile(join(dirname(require.resolve('swagger-ui-dist/package.json')), name), 'utf8');
  }
}
