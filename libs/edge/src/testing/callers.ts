import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Actor, type Scope } from '@fairlead/api';
import { Unauthorized } from '@fairlead/schema';
import type { InjectOptions } from 'fastify';
import type { Authenticate } from '../admit';

export const TENANT = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
export const OTHER_TENANT = '7f0d0f6e-5c3e-4c1a-9a61-222222222222';

const actor = (keyId: string, tenantId: string, ...scopes: Scope[]): Actor => ({
  keyId,
  tenantId,
  organizationId: tenantId,
  scopes: new Set(scopes),
});

const CALLERS = {
  writer: actor('writer', TENANT, 'write', 'tokens:read'),
  reader: actor('reader', TENANT, 'read'),
  auditor: actor('auditor', TENANT, 'write', 'secrets:read'),
  stranger: actor('stranger', OTHER_TENANT, 'write', 'secrets:read', 'tokens:read'),
};

/** Somebody of `TENANT` with a scope, or a stranger, of `OTHER_TENANT`; nobody else is known. */
export type Caller = keyof typeof CALLERS | 'nobody';

/** For a service under test alone: the name of a caller is their key. */
export const authenticateCaller: Authenticate = ({ headers }) => {
  const known = CALLERS[String(headers['x-api-key']) as keyof typeof CALLERS];
  return known ? Promise.resolve(known) : Promise.reject(new Unauthorized());
};

export interface Sent {
  /** The writer unless said otherwise. */
  readonly as?: Caller;
  /** A string is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // Answers are looked into by the tests, whatever their shape.
  readonly json: ReturnType<typeof JSON.parse>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** True of an answer that asks to try again, because what was written last cannot be read in time on a slow machine. */
export function isBehind(status: number, text: string): boolean {
  return status === 503 && text.includes('cannot be read yet, try again');
}

/** Sends a request to an application without a network between, as often as it asks for that. */
export async function injected(app: NestFastifyApplication, request: InjectOptions) {
  for (;;) {
    const answer = await app.inject(request);
    if (!isBehind(answer.statusCode, answer.payload)) return answer;
  }
}

/** Sends a request of a caller, with JSON when there is a body. */
export async function send(
  app: NestFastifyApplication,
  method: Method,
  url: string,
  { as = 'writer', body, headers = {} }: Sent = {},
): Promise<Answered> {
  const answer = await injected(app, {
    method,
    url,
    headers: { 'x-api-key': as, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = answer.payload;
  const isJson = /[/+]json(?:;|$)/.test(String(answer.headers['content-type']));
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}
