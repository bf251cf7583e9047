import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../../generated/api';
import { attendance } from './attended';
import { ApiError, refusal } from './errors';
import { send, SESSION } from './held';
import { parseLossless } from './lossless';

export type Schemas = components['schemas'];
export type Comparison = Schemas['Comparison'];
export type Session = Schemas['Session'];
export type ConsoleSession = Schemas['ConsoleSession'];

export { ApiError };

let workspace = '-';
/** Names the workspace of all requests; `-` is that of the session. */
export function setWorkspace(id: string): void {
  workspace = id;
}

/** The workspace that the page names, `-` for that of the session. */
export function pageWorkspace(): string {
  return workspace;
}

function ownHeaders(): Record<string, string> {
  return { ...attendance(), ...(workspace !== '-' && { 'x-tenant-id': workspace }) };
}

const inWorkspace: Middleware = {
  onRequest({ request, schemaPath }) {
    // The session is there before any workspace is chosen, and tells which ones there are.
    const headers = schemaPath === SESSION ? attendance() : ownHeaders();
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return request;
  },
};

export const api = createClient<paths>({ baseUrl: '', credentials: 'same-origin', fetch: send });
api.use(inWorkspace);

interface Answered {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of a success. @throws ApiError */
export async function answered<T extends Answered>(asked: Promise<T>): Promise<NonNullable<T['data']>> {
  const { data, error, response } = await asked;
  if (response.ok) return data as NonNullable<T['data']>;
  throw refused(response, error);
}

/** The body of a success, its `ETag`, what the service warns of, and whether a list goes on after it. @throws ApiError */
export async function answeredWhole<T extends Answered>(asked: Promise<T>) {
  const body = await answered(asked);
  const { headers } = (await asked).response;
  const warning = /^299 \S+ "(.*)"$/s.exec(headers.get('warning') ?? '')?.[1]?.replaceAll(/\\(.)/gs, '$1');
  const more = /rel="?next/.test(headers.get('link') ?? '');
  return { body, etag: headers.get('etag') ?? undefined, warning, more };
}

/** JSON whose numbers are kept as they were written. @throws ApiError */
export function readLossless(path: string, signal?: AbortSignal): Promise<unknown> {
  return lossless(path, { credentials: 'same-origin', headers: ownHeaders(), signal });
}

/** The same of what is shared, for which nobody is signed in. @throws ApiError */
export function readShared(path: string, signal?: AbortSignal): Promise<unknown> {
  return lossless(path, { credentials: 'omit', signal });
}

/** Sends a request to a route that only some installations have: the document of the API does not. @throws ApiError */
export function post(path: string): Promise<unknown> {
  return lossless(path, { method: 'POST', credentials: 'same-origin', headers: ownHeaders() });
}

interface Upload {
  readonly signal: AbortSignal;
  /** Told how many bytes have been sent. */
  readonly onSent: (count: number) => void;
}

/** Uploads to an address of the service that needs nothing else. @throws ApiError */
export function upload(path: string, body: Blob, { signal, onSent }: Upload): Promise<void> {
  return new Promise((resolve, reject) => {
    // A request of `fetch` does not tell how much of it has been sent.
    const request = new XMLHttpRequest();
    request.open('PUT', path);
    request.setRequestHeader('content-type', body.type);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onerror = () => reject(new TypeError('The connection is gone.'));
    request.onabort = () => reject(signal.reason as Error);
    request.onload = () => {
      const { status, responseText } = request;
      if (status < 300) return resolve();
      reject(refusal(status, (name) => request.getResponseHeader(name), json(responseText)));
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

/** The whole body of an answer, which the browser keeps outside of the memory of the page. @throws ApiError */
export async function download(path: string): Promise<Blob> {
  const response = await send(new Request(path, { credentials: 'same-origin', headers: ownHeaders() }));
  if (response.ok) return response.blob();
  throw refused(response, json(await response.text()));
}

async function lossless(path: string, init: RequestInit): Promise<unknown> {
  const response = await send(new Request(path, init));
  const text = await response.text();
  if (response.ok) return parseLossless(text);
  throw refused(response, json(text));
}

function refused({ status, headers }: Response, body: unknown): ApiError {
  return refusal(status, (name) => headers.get(name), body);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
