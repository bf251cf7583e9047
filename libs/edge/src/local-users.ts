import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** Tables of the TCP sockets of this machine, which every user may read. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';

/**
 * Returns the ids of the users of this machine whose connections reach a port over loopback, by the address and the port
 * from which they come, as `remoteEnd` writes them; an empty map where the system does not show them.
 */
export async function usersConnectedTo(port: number): Promise<ReadonlyMap<string, number>> {
  const users = new Map<string, number>();
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n')) {
      const [, local = '', remote = '', state, , , , uid] = line.trim().split(/\s+/);
      if (state === ESTABLISHED && remote.endsWith(end)) users.set(written(local), Number(uid));
    }
  }
  return users;
}

/** Returns the other end of a loopback connection in the form of `usersConnectedTo`. */
export function remoteEnd({ remoteAddress = '', remotePort = 0 }: Socket): string {
  const v4 = /(?:^|:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(remoteAddress);
  const host = v4
    ? v4
        .slice(1)
        .toReversed()
        .map((part) => Number(part).toString(16).padStart(2, '0'))
        .join('')
        .toUpperCase()
    : '::1';
  return `${host}:${remotePort}`;
}

/** An end of a connection of the tables, in which each 32 bits are a number of the machine, on common ones backwards. */
function written(local: string): string {
  const [address = '', port = ''] = local.split(':');
  return `${address === '00000000000000000000000001000000' ? '::1' : address.slice(-8)}:${parseInt(port, 16)}`;
}
