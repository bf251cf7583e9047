import { fork } from 'node:child_process';
import nodeCluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { basename, extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVICE_NAMES, type ServiceName, urlVariable } from '@fairlead/service';
import type { Log } from './log';
import { freePort } from './ports';
import { Replica } from './replica';
import { inTurns } from './turns';

interface ClusterOptions {
  /** Environment of every process: its settings, the address of the database among them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the gateways listen; 0 is a free port. */
  readonly port: number;
  /** Processes of each service, and gateways. */
  readonly replicas: number;
  readonly log: Log;
}

interface Placed {
  readonly service: ServiceName;
  /** Counted from 1, for each service. */
  readonly number: number;
  readonly url: string;
  readonly replica: Replica;
}

/** Room for the name of any process. */
export const NAME_WIDTH = Math.max(...SERVICE_NAMES.map((name) => name.length)) + 2;
const POLL_MS = 250;
/** Processes that start at a time. With all at once, each is so slow that the database seems not to answer it. */
const STARTS_FOR_EACH_CORE = 2;

/** Number of processes when there are `replicas` of each. */
export function processesOf(replicas: number): number {
  return (SERVICE_NAMES.length + 1) * replicas;
}

/**
 * Every service as processes of its own on this machine, and gateways before them that share one port. A process that
 * ends is started again; all end with this one.
 */
export class Cluster {
  private placed: readonly Placed[] = [];
  private readonly gateways = new Set<Replica>();
  private port = 0;
  private rolling: Promise<void> = Promise.resolve();
  private stopping = false;
  private named = 0;

  constructor(private readonly options: ClusterOptions) {
    nodeCluster.setupPrimary({ exec: entryOf('gateway'), silent: true });
  }

  /** Starts everything; resolves with the gateways' port when all of it is ready. */
  async start(): Promise<number> {
    const { replicas, port } = this.options;
    // One that is found once: each gateway, and each that takes its place, is to listen there.
    this.port = port || (await freePort());
    const wanted = SERVICE_NAMES.flatMap((service) =>
      Array.from({ length: replicas }, (_, index) => ({ service, index })),
    );
    this.placed = await Promise.all(wanted.map(({ service, index }) => this.place(service, index + 1)));
    for (let n = 0; n < replicas; n++) this.gateways.add(this.gateway());
    // The gateways come first: a port that is taken ends the start before the services have begun.
    const all = [...this.gateways, ...this.placed.map(({ replica }) => replica)];
    await inTurns(all, STARTS_FOR_EACH_CORE * availableParallelism(), (one) => one.start());
    return this.port;
  }

  /**
   * Replaces every process by a new one, of each service one at a time; where there are two of each, no request is lost.
   * @throws Error when a new one does not come up: those that were not reached yet keep running as they are.
   */
  roll(): Promise<void> {
    const next = this.rolling.then(() => this.replaceAll());
    this.rolling = next.catch(() => undefined);
    return next;
  }

  /** Stops the gateways, which finish what is under way, then the services. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all([...this.gateways].map((gateway) => gateway.stop()));
    await Promise.all(this.placed.map(({ replica }) => replica.stop()));
  }

  private async replaceAll(): Promise<void> {
    for (let n = 1; n <= this.options.replicas && !this.stopping; n++) {
      // They finish together; one after the other starts, which is work that those who answer meanwhile would feel.
      let turn = Promise.resolve();
      const chosen = this.placed.filter(({ number }) => number === n);
      await all(
        chosen.map(({ replica }) => {
          const restarted = replica.restart(turn);
          turn = restarted.catch(() => undefined);
          return restarted;
        }),
      );
    }
    if (this.stopping) return;
    // A gateway's successor listens on their port before it stops.
    for (const former of [...this.gateways]) {
      const successor = this.gateway();
      this.gateways.add(successor);
      await successor.start();
      await former.stop();
      this.gateways.delete(former);
    }
  }

  private async place(service: ServiceName, number: number): Promise<Placed> {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const replica = new Replica({
      ...this.heard(`${service}.${number}`),
      launch: () => {
        const env = { ...this.options.env, HOST: '127.0.0.1', PORT: port };
        return fork(entryOf(service), { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
      },
      ready: (gone) => untilReady(url, gone),
    });
    return { service, number, url, replica };
  }

  private gateway(): Replica {
    let worker: Worker;
    return new Replica({
      ...this.heard(`gateway.${++this.named}`),
      launch: () => {
        worker = nodeCluster.fork({ ...this.options.env, ...this.addresses(), PORT: String(this.port) });
        return worker.process;
      },
      ready: async (signal) => void (await once(worker, 'listening', { signal })),
    });
  }

  private addresses(): Record<string, string> {
    const urls = (name: ServiceName) => this.placed.filter(({ service }) => service === name).map(({ url }) => url);
    return Object.fromEntries(SERVICE_NAMES.map((name) => [urlVariable(name), urls(name).join(',')]));
  }

  private heard(name: string): { name: string; say: (line: string) => void } {
    return { name, say: (line) => this.options.log.say(name, line) };
  }
}

/** Resolves when everything is done. @throws Error the first one, once everything has ended. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** The main file of an application, built or not as this one is. */
function entryOf(app: string): string {
  return join(__dirname, '../..', app, basename(__dirname), `main${extname(__filename)}`);
}

async function untilReady(url: string, gone: AbortSignal): Promise<void> {
  for (;;) {
    gone.throwIfAborted();
    const ready = await fetch(`${url}/health/ready`, { signal: gone }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await delay(POLL_MS, undefined, { signal: gone });
  }
}
