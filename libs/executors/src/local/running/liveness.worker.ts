import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { unaccepted } from '../isolation/process-use.client';
import { answers, connects } from './readiness.client';

/** Check of a process of a program that has been ready. */
export interface Looks {
  readonly every: number;
  /** Looks in a row that find its port closed after which it is started again. */
  readonly closed: number;
  /** Looks in a row without any sign of life after which it is started again. */
  readonly silent: number;
  /** The same while it works on a request, which may keep it from everything else for long. */
  readonly busy: number;
  /** Milliseconds for which a connection or a request may wait. */
  readonly wait: number;
}

/** Looks in a row that find nothing wrong before a process is said to be unresponsive. */
const PATIENCE = 2;

interface Looked {
  readonly port: number;
  readonly health: string | undefined;
  readonly isBusy: boolean;
  readonly signs: number;
}

interface Verdicts {
  /** `null`: it answers again. */
  readonly trouble: (sentence: string | null) => void;
  /** It is to be ended and started again; `how` it has ended, in words for a sentence. */
  readonly lost: (how: string) => void;
}

/**
 * Looks at a process until `signal` aborts, or until it is lost. One that has closed its port is lost soon. One that does
 * not answer may be busy: it is lost when it also wrote nothing for a minute, and much later while it
 * works on one.
 */
export async function watchLiveness(
  looked: Looked,
  looks: Looks,
  { trouble, lost }: Verdicts,
  signal: AbortSignal,
): Promise<void> {
  let [closed, silent, signs] = [0, 0, looked.signs];
  let isTroubled = false;
  for (;;) {
    await delay(looks.every, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const seen = await look(looked, looks.wait);
    if (signal.aborted) return;
    const isAlive = seen === 'open' || (seen === 'silent' && looked.signs !== signs);
    signs = looked.signs;
    closed = seen === 'closed' ? closed + 1 : 0;
    silent = isAlive || seen === 'closed' ? 0 : silent + 1;
    if (isAlive && isTroubled) trouble(null);
    isTroubled = !isAlive && closed + silent >= PATIENCE;
    const seconds = Math.round(((closed + silent) * looks.every) / 1000);
    if (isTroubled) trouble(closed > 0 ? 'It has closed its port.' : `It has not answered for ${seconds} s.`);
    if (closed >= looks.closed) return lost(`was ended because it had closed its port ${seconds} s before`);
    if (silent >= (looked.isBusy ? looks.busy : looks.silent)) {
      return lost(`was ended because it had not answered for ${seconds} s`);
    }
  }
}

async function look({ port, health }: Looked, wait: number): Promise<'open' | 'closed' | 'silent'> {
  if (health !== undefined && (await answers(port, health, () => true, wait))) return 'open';
  if (!(await connects(port))) return 'closed';
  return health === undefined && (await takes(port, wait)) ? 'open' : 'silent';
}

/**
 * Returns whether a program takes a connection. The system completes connections for programs that hang: these wait until
 * the program takes them, and sending a request to see that could have an effect.
 */
async function takes(port: number, wait: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  try {
    for (const end = performance.now() + wait; performance.now() < end; await delay(50)) {
      if (socket.connecting) continue;
      if (unaccepted(port) === 0) return true;
    }
    return false;
  } finally {
    socket.destroy();
  }
}
