import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

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

/**
 * Resolves when a program answers at `health` with a status that shows that it is ready, or takes connections when there
 * is no such path. @throws when aborted
 */
export async function untilReady(
  port: number,
  health: string | undefined,
  signal: AbortSignal,
  isReady: (status: number) => boolean,
): Promise<void> {
  for (; ; await delay(50, undefined, { signal })) {
    signal.throwIfAborted();
    if (health === undefined ? await connects(port) : await answers(port, health, isReady)) return;
  }
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
