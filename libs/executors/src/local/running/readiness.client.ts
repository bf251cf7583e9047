import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StepFailed } from '../../port/executor';
import { listeningUsers } from '../isolation/process-use.client';

/** Ports that were given last: programs that start at the same time may not listen there yet. */
const given = new Set<number>();
const MOST_GIVEN = 200;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = await unusedPort();
    if (given.has(port)) continue;
    given.add(port);
    if (given.size > MOST_GIVEN) given.delete(given.values().next().value!);
    return port;
  }
}

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

export class PortTaken extends StepFailed {}

/** Milliseconds after which a port that stays open shows that a program is ready which answers no HTTP. */
const OPEN_MS = 5000;
const ANSWER_MS = 5000;

/**
 * Resolves when a program answers at `health` with a status that shows that it is ready. When there is no such path, any
 * answer to a request shows it, or a port that has been open for OPEN_MS: many programs listen before they find out that
 * they cannot go on. With the user id of its `owner`, nobody else may listen at its port, as far as the system shows it.
 * @throws PortTaken; the reason of `signal` when that aborts
 */
export async function untilReady(
  port: number,
  health: string | undefined,
  signal: AbortSignal,
  isReady: (status: number) => boolean,
  owner?: number,
): Promise<void> {
  let openSince: number | undefined;
  for (; ; await delay(50, undefined, { signal })) {
    signal.throwIfAborted();
    if (health !== undefined) {
      if ((await answers(port, health, isReady)) && requireOwner(port, owner)) return;
      continue;
    }
    if (await connects(port)) openSince ??= performance.now();
    else openSince = undefined;
    if (openSince === undefined) continue;
    const seemsReady = (await answers(port, '/', () => true)) || performance.now() - openSince >= OPEN_MS;
    // Who has answered may have closed the port by now, and may listen there again until the program does.
    if (seemsReady && (await connects(port)) && requireOwner(port, owner)) return;
  }
}

/** Answers whether the owner of a port listens there, or the system does not show it. @throws PortTaken */
export function requireOwner(port: number, owner: number | undefined): boolean {
  const users = owner === undefined ? undefined : listeningUsers(port);
  if (users?.some((uid) => uid !== owner)) {
    throw new PortTaken(`Port ${port} was given to the program, but a program of another user listens there.`);
  }
  return users === undefined || users.length > 0;
}

/** Returns whether a program answers a request, through a connection of its own, with a status that is wanted. */
export function answers(
  port: number,
  path: string,
  isWanted: (status: number) => boolean,
  most = ANSWER_MS,
): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false });
    const limit = setTimeout(() => settle(false), most);
    const settle = (answer: boolean) => {
      clearTimeout(limit);
      resolve(answer);
      sent.destroy();
    };
    sent.once('response', ({ statusCode = 0 }) => settle(isWanted(statusCode)));
    sent.once('upgrade', () => settle(false));
    sent.on('error', () => settle(false));
    sent.end();
  });
}

/** A connection to a port of this machine; undefined when nothing takes it, so that nothing was sent. */
export function connectTo(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

export async function connects(port: number): Promise<boolean> {
  return (await connectTo(port))?.destroy() !== undefined;
}
