import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StepFailed } from '../../executors/executor';
import { listeningUsers } from '../process-use.watch';

/** Ports that were given last: programs that start at the same time may not listen there yet. */
const given = new Set<number>();
const MOST_GIVEN = 200;

/** A port of this machine that nobody listens on. */
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

/** A program of another user listens at the port that a program was given. */
export class PortTaken extends StepFailed {}

/**
 * Resolves when a program answers at `health` with a status that shows that it is ready, or takes connections when there
 * is no such path. With the user id of its `owner`, nobody else may listen at its port, as far as the system shows it.
 * @throws PortTaken; the reason of `signal` when that aborts
 */
export async function untilReady(
  port: number,
  health: string | undefined,
  signal: AbortSignal,
  isReady: (status: number) => boolean,
  owner?: number,
): Promise<void> {
  for (; ; await delay(50, undefined, { signal })) {
    signal.throwIfAborted();
    const seemsReady = health === undefined ? await connects(port) : await answers(port, health, isReady);
    // Who has answered may have closed the port by now, and may listen there again until the program does.
    if (seemsReady && requireOwner(port, owner)) return;
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

async function answers(port: number, path: string, isReady: (status: number) => boolean): Promise<boolean> {
  try {
    const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`, {
      signal: AbortSignal.timeout(5000),
      // A program must not send the server, which may be root, to other addresses.
      redirect: 'manual',
    });
    await body?.cancel();
    return isReady(status);
  } catch {
    return false;
  }
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
