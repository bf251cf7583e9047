import type { Service } from '../../../../cli/src/demo/service';
import { ApiError, upload } from '../../api/client';
import { request } from '../../api/request';

/** Times that a request is sent when the service cannot take it just now. */
const ATTEMPTS = 8;
const PAUSE_MS = 1000;

/** The service as the demo uses it, with the session of this page. */
export function serviceOf(signal: AbortSignal, onStep: Service['onStep']): Service {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const repeated = async <T>(send: () => Promise<unknown>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return (await send()) as T;
      } catch (error) {
        const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503);
        if (!isBusy || attempt === ATTEMPTS) throw error;
        await pause((error.more.retryAfter ?? 0) * 1000 || PAUSE_MS);
      }
    }
  };
  return {
    onStep,
    pause,
    get(path, query = {}) {
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      return repeated(() => request('GET', `${path}?${search}`, { signal }));
    },
    send(method, path, { body, parts, reason } = {}) {
      const headers = {
        ...((body || parts) && { 'content-type': parts?.type ?? 'application/json' }),
        ...(reason !== undefined && { 'x-reason': encodeURIComponent(reason) }),
      };
      const text = parts?.text ?? (body && JSON.stringify(body));
      return repeated(() => request(method, path, { body: text, headers, signal }));
    },
    async upload(address, archive) {
      const body = new Blob([archive], { type: 'application/gzip' });
      await repeated(() => upload(address, body, { signal, onSent: () => undefined }));
    },
  };
}
