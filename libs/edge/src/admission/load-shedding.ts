import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Dialect } from '@fairlead/api';
import type { Admission } from './admission';
import { written } from '@fairlead/api';
import { canonicalUrl } from '../http/canonical-url';
import type { HttpProblem } from '@fairlead/schema';
import type { DefaultHeaders } from '../headers/default-headers';
import { linger } from './lingering';
import { requestId } from '../headers/request-id';
import type { RouteTable } from '@fairlead/api';

/** A request that was rejected because of overload; only its head has been read. */
export interface TurnedAway {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly status: number;
  /** By `performance.now()`. */
  readonly startedAt: number;
}

interface Gate {
  readonly admission: Admission;
  readonly table: RouteTable;
  readonly defaultHeaders: DefaultHeaders;
  readonly dialect: Dialect | undefined;
  /** Called after the response has been written. */
  readonly told: readonly ((refused: TurnedAway) => void)[];
}

/**
 * Rejects requests above the capacity before the framework sees them, with the response that they would get from it.
 * Under overload there are thousands of them a second, and the admitted requests need the time that they would take. The
 * framework decides about routes with another load class. Returns a function that ends load shedding.
 */
export function shedLoad(server: Server, gate: Gate): () => void {
  const [letIn] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void];
  let isOpen = false;
  const arrive = (request: IncomingMessage, response: ServerResponse) => {
    const startedAt = performance.now();
    const problem = isOpen ? undefined : gate.admission.full(request.headers, startedAt);
    if (problem) {
      const { url } = canonicalUrl(request.url ?? '/', gate.dialect);
      if (gate.table.isUsual(request.method ?? '', url)) {
        refuse(request, response, url, problem, startedAt, gate);
        return;
      }
    }
    letIn.call(server, request, response);
  };
  server.off('request', letIn).on('request', arrive);
  return () => {
    isOpen = true;
  };
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
  problem: HttpProblem,
  startedAt: number,
  { defaultHeaders, told }: Gate,
): void {
  const { headers } = request;
  const { status } = problem;
  const id = requestId(request);
  const { type, text } = written({ headers, url, id }, problem);
  linger(request, response);
  response
    .writeHead(status, {
      ...defaultHeaders.for(headers, url, id),
      ...problem.headers,
      'content-type': type,
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
  for (const tell of told) tell({ request, requestId: id, status, startedAt });
}
