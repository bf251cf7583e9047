import { answered, api } from './client';

interface Unlisted {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Send = (
  path: string,
  init: Unlisted & { bodySerializer: (body: string) => string },
) => Parameters<typeof answered>[0];

/** Sends a request of code that knows paths only, as it is shared with the command line. @throws ApiError */
export function request(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, init: Unlisted = {}) {
  const send = api[method] as unknown as Send;
  return answered(send(path, { ...init, bodySerializer: (body) => body }));
}
