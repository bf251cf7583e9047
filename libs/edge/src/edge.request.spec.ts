import type { FastifyReply, FastifyRequest } from 'fastify';
import { CommandContext, etag, linkNext, requireJson } from '@fairlead/api';
import {
  BadRequest,
  Conflict,
  HttpProblem,
  PreconditionFailed,
  TooManyRequests,
  Unprocessable,
} from '@fairlead/schema';
import { answerTo } from '@fairlead/api';

const request = (headers: Record<string, string>, rest: object = {}) =>
  ({ headers, id: 'request-1', method: 'GET', url: '/', ip: '192.0.2.1', ...rest }) as unknown as FastifyRequest;
const context = (...parts: Parameters<typeof request>) => new CommandContext(request(...parts));

describe('If-Match', () => {
  it.each([
    [{}, undefined],
    [{ 'if-match': etag(3) }, 3],
    [{ 'if-match': '*' }, undefined],
    [{ 'if-match': 'W/"2", "7"' }, 7],
  ])('%j asks for version %s', (headers, version) => {
    expect(context(headers).expectedVersion()).toBe(version);
  });

  it('takes the current version out of a list', () => {
    expect(context({ 'if-match': '"2", "5", "9"' }).expectedVersion(5)).toBe(5);
    expect(() => context({ 'if-match': '"2", "9"' }).expectedVersion(5)).toThrow(PreconditionFailed);
  });

  it.each(['W/"3"', '"abc"', '3', ''])('%j matches nothing', (header) => {
    expect(() => context({ 'if-match': header }).expectedVersion()).toThrow(PreconditionFailed);
  });
});

describe('A body that a route reads itself', () => {
  const body = Buffer.from('{}');

  it.each([undefined, 'application/json', 'Application/JSON; charset=utf-8', 'application/problem+json'])(
    'counts as JSON when its content type is %s',
    (type) =>
      expect(() => requireJson(request(type === undefined ? {} : { 'content-type': type }), body)).not.toThrow(),
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonl'])('is refused as %s', (type) => {
    expect(() => requireJson(request({ 'content-type': type }), body)).toThrow(Unprocessable);
  });
});

it('The next page is this address with another offset', () => {
  const headers: Record<string, string> = {};
  const reply = {
    header: (name: string, value: string) => (headers[name] = value),
    request: { originalUrl: '/api-host/v2/deployments?status=READY&offset=20&tag=a%20b' },
  } as unknown as FastifyReply;
  linkNext(reply, 40);
  expect(headers.link).toBe('</api-host/v2/deployments?status=READY&offset=40&tag=a+b>; rel="next"');
});

describe('Metadata of a request', () => {
  const actor = { keyId: 'key-1', tenantId: 'tenant-1' };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it('holds who, which request, why and after what', () => {
    const headers = { traceparent, 'x-reason': 'more%20room', 'idempotency-key': 'k' };
    const asked = { method: 'PATCH', url: '/v2/deployments/7?token=secret', ip: '192.0.2.1' };
    expect(context(headers, { actor, ...asked }).metadata).toEqual({
      tenant: 'tenant-1',
      actor: 'key-1',
      requestId: 'request-1',
      request: 'PATCH /v2/deployments/7',
      address: '192.0.2.1',
      traceparent,
      reason: 'more room',
      causationId: 'k',
    });
  });

  it('leaves out what is missing or malformed', () => {
    expect(context({ traceparent: 'x', 'x-reason': '' }).metadata).not.toHaveProperty('traceparent');
    expect(context({ traceparent: 'x', 'x-reason': '' }).metadata).not.toHaveProperty('reason');
  });

  it('reads a reason in UTF-8 and refuses an endless one', () => {
    const header = Buffer.from('größer').toString('latin1');
    expect(context({ 'x-reason': header }).metadata.reason).toBe('größer');
    expect(() => context({ 'x-reason': 'x'.repeat(1001) }).metadata).toThrow(BadRequest);
  });
});

describe('Errors', () => {
  class NameTaken extends BadRequest {}
  class NameTakenTwice extends NameTaken {}

  it('of a domain carry their status, their code and their sentence, derived classes too', () => {
    expect(answerTo(new NameTakenTwice('It already exists.')).problem).toMatchObject({
      status: 400,
      name: 'NameTakenTwice',
      detail: 'It already exists.',
    });
    expect(answerTo(new Error('x'))).toMatchObject({ problem: { status: 500 }, log: 'error' });
    expect(answerTo('thrown text').problem.status).toBe(500);
    expect(answerTo(undefined).problem.status).toBe(500);
  });

  it('that must not, or should, be tried again say so', () => {
    expect(new Conflict('x').headers).toEqual({ 'x-should-retry': 'false' });
    expect(new PreconditionFailed().headers).toEqual({ 'x-should-retry': 'false' });
    expect(new TooManyRequests(7).headers).toEqual({ 'retry-after': '7' });
    expect(new TooManyRequests(7)).toBeInstanceOf(HttpProblem);
  });
});
