import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { PostgresEventStore } from '@fairlead/eventing';
import { Pool } from 'pg';
import { v7 as uuid } from 'uuid';

interface Work {
  /** Answer to every request. */
  readonly page: object;
  /** The database that every request's body is appended to first, as an event of the stream that its path names. */
  readonly log?: string;
}

/** A server in a thread of its own that does nothing else: what is the most that the machine gives. */
export async function bareServer(work: Work): Promise<{ url: string; stop(): Promise<unknown> }> {
  const worker = new Worker(__filename, { workerData: work });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { url: `http://127.0.0.1:${port}/`, stop: () => worker.terminate() };
}

function serve({ page, log }: Work): void {
  const store = log === undefined ? undefined : new PostgresEventStore(new Pool({ connectionString: log }));
  const metadata = { tenant: uuid(), actor: uuid(), requestId: uuid() };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (store) {
      const data = (await json(request)) as object;
      await store.append(`bench-${request.url!.slice(1)}`, 'any', [{ type: 'DeploymentPatched', data }], metadata);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(page));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => {
    parentPort!.postMessage((server.address() as AddressInfo).port);
  });
}

if (!isMainThread) serve(workerData as Work);
