import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Dialect } from '@fairlead/api';
import type { Admission } from './admission';
import { written } from '@fairlead/api';
import { canonicalUrl } from '@fairlead/api';
import type { HttpProblem } from '@fairlead/schema';
import type { Greeting } from '../headers/greeting';
import { linger } from './lingering';
import { requestId } from '../headers/request-id';
import type { RouteTable } from '@fairlead/api';

/** A request that was refused for want of room, of which no more is known than its head. */
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
  readonly greeting: Greeting;
  readonly dialect: Dialect | undefined;
  /** Told when a refusal has been written. */
  readonly told: readonly ((refused: TurnedAway) => void)[];
}

/**
 * Refuses requests for which there is no room before the framework sees them, with the answer that it would get there.
 * Under overload there are thousands of them a second, and what was let in needs the time that they would take. Routes
 * whose load is not the usual one are left to the framework. Answers a function that opens the turnstile for all.
 */
export function turnstile(server: Server, gate: Gate): () => void {
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
  { greeting, told }: Gate,
): void {
  const { headers } = request;
  const { status } = problem;
  const id = requestId(request);
  const { type, text } = written({ headers, url, id }, problem);
  linger(request, response);
  response
    .writeHead(status, {
      ...greeting.to(headers, id),
      ...problem.headers,
      'content-type': type,
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
  for (const tell of told) tell({ request, requestId: id, status, startedAt });
}
