import autocannon from 'autocannon';

/** A request a connection sends over and over; `body` is asked for each time. */
export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly method?: 'GET' | 'PATCH';
  readonly headers?: Record<string, string>;
  readonly next?: () => { path: string; body: string };
}

/** Answers per second under a load. @throws Error when an answer was not 2xx */
export async function rate({ url, connections, seconds, method = 'GET', headers, next }: Load): Promise<number> {
  const setupRequest = (given: autocannon.Request): autocannon.Request => ({ ...given, ...next?.() });
  const requests: autocannon.Request[] = [{ method, headers, setupRequest }];
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: next ? requests : undefined,
    headers,
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  return result.requests.average;
}
