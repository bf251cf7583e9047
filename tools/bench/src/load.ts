import autocannon from 'autocannon';

/** A request a connection sends over and over; `body` is asked for each time. */
interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly method?: 'GET' | 'PATCH' | 'POST';
  readonly headers?: Record<string, string>;
  readonly next?: () => { path: string; body: string };
}

/** Answers per second under a load. @throws Error when an answer was not 2xx */
export async function rate(load: Load): Promise<number> {
  return (await measured(load)).rate;
}

/** Answers per second under a load, and the 99th percentile of their times in ms. @throws Error when one was not 2xx */
export async function measured(load: Load): Promise<{ rate: number; p99: number }> {
  const { url, connections, seconds, method = 'GET', headers, next } = load;
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
  return { rate: result.requests.average, p99: result.latency.p99 };
}
