import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WATCHED } from '../../command/child-process';
import { ExecutorUnreachable, type Step, StepFailed } from '../../port/executor';
import type { TakeLevel } from '../isolation/app-process';
import { ContainerNetworks, wayFrom } from './container-networks';
import { ContainerProcess } from './container-process';
import { EngineClient, EngineRefused, jsonLines } from './engine.client';
import type { ContainerImage, EngineKind } from '../recipes/recipe';
import { RunsGateways } from './runs-gateways.client';

interface Wanted {
  readonly deploymentId: string;
  readonly revisionId: string;
  readonly image: ContainerImage;
  readonly env: Readonly<Record<string, string>>;
  /** Port of this machine; absent for what is no server. */
  readonly port?: number;
  readonly command?: readonly string[];
  readonly memory?: number;
  readonly disk?: number;
  readonly cores?: number;
  /** Where this server listens, if the container is to send runs to it; its environment then has what it needs for that. */
  readonly server?: string;
  /** Closes the addresses of its network to others; answers what opens them again. */
  readonly close?: (subnet: string) => Promise<() => Promise<unknown>>;
}

interface Given {
  readonly env: Readonly<Record<string, string>>;
  readonly memory: number;
  readonly network: string;
}

export const NO_ENGINE = 'This machine has no container engine: neither Docker nor Podman answers.';
const GONE = { docker: 'Docker does not answer.', podman: 'Podman does not answer.' };
const SOCKETS = [
  '/var/run/docker.sock',
  '/run/podman/podman.sock',
  ...['podman/podman.sock', 'docker.sock'].map((name) => join(process.env.XDG_RUNTIME_DIR ?? '/run/none', name)),
];
const PODMAN_ENV = /^(PATH|HOME|XDG_RUNTIME_DIR|CONTAINERS_\w+|https?_proxy|no_proxy)$/i;
const STARTING_MS = 30_000;
const PAUSE_MS = 50;
/** Port of an image that does not expose exactly one. */
const PORT = 8000;
const MEMORY_BYTES = 2e9;
const PROCESSES = 512;
const LOG_SIZE = '16m';
const INSTALLATION = 'fairlead.installation';
const DEPLOYMENT = 'fairlead.deployment';
const REVISION = 'fairlead.revision';
const ENDPOINT = 'LANGSMITH_ENDPOINT';

/** The containers of deployments, in the engine of this machine: Docker, or Podman, which is started when it is installed. */
export class Containers {
  private readonly installation: string;
  private readonly fetched = new Set<string>();
  private readonly clients: readonly EngineClient[];
  private opening: Promise<EngineClient[]> | undefined;
  private starting: Promise<EngineClient | undefined> | undefined;
  private podman: { readonly child: ChildProcess; readonly folder: string; readonly client: EngineClient } | undefined;
  /** Names of those that belong to programs of this process. */
  private readonly live = new Set<string>();
  /** Engines that hold nothing of this installation which belongs to none of them. */
  private readonly cleared = new Set<EngineClient>();
  private readonly used = new Set<EngineClient>();
  private readonly networks: ContainerNetworks;
  private readonly gateways = new RunsGateways();

  /** `root`: folder of the deployments' folders; each installation of the machine has containers of its own. */
  constructor(
    root: string,
    sockets: readonly string[] = SOCKETS,
    private readonly startsPodman = true,
  ) {
    this.installation = createHash('sha256').update(root).digest('hex').slice(0, 16);
    this.clients = sockets.map((socket) => new EngineClient(socket));
    this.networks = new ContainerNetworks(`fairlead-${this.installation}`, { [INSTALLATION]: this.installation });
  }

  /**
   * The first engine that answers now, of a kind if one is named; undefined when there is none. What earlier processes of
   * the server have left there is removed first.
   */
  async engine(kind?: EngineKind): Promise<EngineClient | undefined> {
    this.opening ??= this.open().finally(() => (this.opening = undefined));
    const isWanted = (engine: EngineClient) => kind === undefined || engine.kind === kind;
    const found = (await this.opening).find(isWanted);
    if (found || kind === 'docker' || !this.startsPodman) return found;
    this.starting ??= this.startPodman().finally(() => (this.starting = undefined));
    const started = await this.starting;
    if (started) await this.clear(started);
    return started;
  }

  /**
   * Pulls an image without credentials, and logs the progress. One that is on this machine already is used when it
   * cannot be pulled. @throws StepFailed, ExecutorUnreachable
   */
  async pull(reference: string, most: number, { signal, log }: Step): Promise<ContainerImage> {
    const engine = await this.required();
    const before = await inspect(engine, reference);
    await log('INFO', `Pulls ${reference}.`);
    const failure = await pull(engine, { reference, most, signal, log: (line) => log('INFO', line) });
    signal.throwIfAborted();
    const found = await inspect(engine, reference);
    if (!found) throw new StepFailed(`The image cannot be pulled: ${failure ?? 'it is not there.'}`);
    if (failure !== undefined) await log('WARNING', `The image that is here already is used: ${failure}`);
    // It may have been fetched for another revision before.
    if (before?.Id !== found.Id) this.fetched.add(found.Id);
    const pulled = this.fetched.has(found.Id);
    const image = { id: found.Id, port: portOf(found), pulled, engine: engine.kind };
    if (found.Size <= most) return image;
    if (before?.Id !== found.Id) await this.removeImage(image);
    throw new StepFailed(`The image has ${found.Size} bytes: at most ${most} are taken.`);
  }

  async canTrace({ engine: kind }: ContainerImage): Promise<boolean> {
    const engine = await this.engine(kind);
    return engine !== undefined && (await wayFrom(engine)) !== undefined;
  }

  /** Starts a container which can be reached from this machine only, and not from other containers. @throws StepFailed */
  async start(wanted: Wanted, told: TakeLevel): Promise<ContainerProcess> {
    const engine = await this.required(wanted.image.engine);
    const { image, server, memory = MEMORY_BYTES } = wanted;
    const name = `fairlead-${randomUUID()}`;
    const ending: (() => unknown)[] = [];
    this.live.add(name);
    this.used.add(engine);
    const remove = async () => {
      await this.removePart(engine, `/containers/${name}?force=1&v=1`);
      // Another network may get its addresses as soon as it is gone.
      for (const end of ending.splice(0)) await end();
      await this.removePart(engine, `/networks/${name}`);
      this.live.delete(name);
    };
    try {
      const network = await this.networks.of(engine, name);
      const open = await wanted.close?.(network.subnet);
      // A network that others share stays closed.
      if (open && network.name === name) ending.push(open);
      const way = server === undefined ? undefined : await wayFrom(engine);
      const runs = way === 'gateway' ? await this.gateways.use(network, server!) : undefined;
      if (runs) ending.push(() => runs.end());
      const endpoint = runs?.address ?? (typeof way === 'object' ? addressAt(way.host, server!) : undefined);
      const listens = wanted.port !== undefined && { PORT: String(image.port) };
      const env = { ...wanted.env, ...listens, ...(endpoint !== undefined && { [ENDPOINT]: endpoint }) };
      const body = this.body(wanted, { env, memory, network: network.name });
      await engine.call('POST', `/containers/create?name=${name}`, { body });
      await engine.call('POST', `/containers/${name}/start`);
      await runs
        ?.listen()
        .catch((error: Error) => void told('WARNING', `Its runs cannot be traced: ${error.message}\n`));
    } catch (error) {
      await remove();
      throw failureOf(error);
    }
    return new ContainerProcess(engine, name, { memory, disk: wanted.disk ?? Infinity }, told, remove);
  }

  know({ id, pulled }: ContainerImage): void {
    if (pulled) this.fetched.add(id);
  }

  async removeImage({ id, pulled, engine }: ContainerImage): Promise<void> {
    if (!pulled) return;
    const removed = (await this.engine(engine))?.call('DELETE', `/images/${id}`);
    await removed?.then(
      () => this.fetched.delete(id),
      () => undefined,
    );
  }

  /** Ends what the server has started in the engine, once all containers have ended. */
  async end(): Promise<void> {
    // Networks of single containers go with these.
    const docker = [...this.used].filter(({ kind }) => kind === 'docker');
    const remove = (engine: EngineClient) => engine.call('DELETE', `/networks/${this.networks.shared}`);
    await Promise.all(docker.map((engine) => remove(engine).catch(() => undefined)));
    this.endPodman();
  }

  private endPodman(): void {
    if (!this.podman) return;
    this.cleared.delete(this.podman.client);
    this.podman.child.stdin?.end();
    rmSync(this.podman.folder, { recursive: true, force: true });
    this.podman = undefined;
  }

  private body({ deploymentId, revisionId, image, port, command, cores }: Wanted, given: Given): object {
    const inside = `${image.port}/tcp`;
    const { memory, network, env } = given;
    const HostConfig = {
      NetworkMode: network,
      ...(port !== undefined && { PortBindings: { [inside]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] } }),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Memory: memory,
      // Without it a container may swap as much again.
      MemorySwap: memory,
      PidsLimit: PROCESSES,
      // Without it Docker keeps all that is written on the disk, and Podman in the journal.
      LogConfig: { Type: 'json-file', Config: { 'max-size': LOG_SIZE } },
      ...(cores !== undefined && { NanoCpus: Math.round(Math.min(cores, availableParallelism()) * 1e9) }),
    };
    return {
      Image: image.id,
      Env: Object.entries(env).map((entry) => entry.join('=')),
      Labels: { [INSTALLATION]: this.installation, [DEPLOYMENT]: deploymentId, [REVISION]: revisionId },
      ...(port !== undefined && { ExposedPorts: { [inside]: {} } }),
      ...(command && { Entrypoint: command.slice(0, 1), Cmd: command.slice(1) }),
      // The server looks itself whether the program is ready.
      Healthcheck: { Test: ['NONE'] },
      HostConfig,
    };
  }

  private async required(kind?: EngineKind): Promise<EngineClient> {
    const engine = await this.engine(kind);
    if (engine) return engine;
    // It was there, and may be again.
    throw kind === undefined ? new StepFailed(NO_ENGINE) : new ExecutorUnreachable(GONE[kind]);
  }

  private async open(): Promise<EngineClient[]> {
    const all = [...this.clients, ...(this.podman ? [this.podman.client] : [])];
    const answers = await Promise.all(all.map((engine) => engine.answers()));
    const answering = all.filter((_, at) => answers[at]);
    await Promise.all(answering.map((engine) => this.clear(engine)));
    return answering;
  }

  /** Starts the API of Podman at a socket of its own; it ends with the server. */
  private async startPodman(): Promise<EngineClient | undefined> {
    this.endPodman();
    const prefix = `fairlead-podman-${this.installation}-`;
    // A killed server leaves its folder.
    for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    }
    const folder = mkdtempSync(join(tmpdir(), prefix));
    const socket = join(folder, 'podman.sock');
    const words = ['podman', 'system', 'service', '--time', '0', `unix://${socket}`];
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PODMAN_ENV.test(name)));
    const child = spawn(WATCHED[0]!, [...WATCHED.slice(1), ...words], {
      // What watches its containers leaves files where it is.
      ...{ cwd: folder, env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] as const },
    });
    let hasEnded = false;
    child.once('error', () => (hasEnded = true));
    child.once('exit', () => (hasEnded = true));
    child.stdin.on('error', () => undefined);
    const engine = new EngineClient(socket);
    this.podman = { child, folder, client: engine };
    for (const end = Date.now() + STARTING_MS; !hasEnded && Date.now() < end; await delay(PAUSE_MS)) {
      if (await engine.answers()) return engine;
    }
    this.endPodman();
    return undefined;
  }

  /** Removes what is labelled as this installation's and belongs to no program of this process. */
  private async clear(engine: EngineClient): Promise<void> {
    if (this.cleared.has(engine)) return;
    this.cleared.add(engine);
    await this.removeOthers(engine).catch(() => this.cleared.delete(engine));
  }

  private async removeOthers(engine: EngineClient): Promise<void> {
    const filters = encodeURIComponent(JSON.stringify({ label: [`${INSTALLATION}=${this.installation}`] }));
    const containers = (await engine.call('GET', `/containers/json?all=1&filters=${filters}`)) as { Names: string[] }[];
    const networks = (await engine.call('GET', `/networks?filters=${filters}`)) as { Name: string }[];
    const names = containers.flatMap(({ Names }) => Names.map((name) => name.slice(1)));
    for (const name of names)
      if (!this.live.has(name)) await this.removePart(engine, `/containers/${name}?force=1&v=1`);
    for (const { Name: name } of networks) {
      const isUsed = name === this.networks.shared ? this.live.size > 0 : this.live.has(name);
      if (!isUsed) await this.removePart(engine, `/networks/${name}`);
    }
  }

  /** Removes a container or a network that may be there: what cannot be removed now is removed later. */
  private async removePart(engine: EngineClient, path: string): Promise<void> {
    await engine.call('DELETE', path).catch((error: unknown) => {
      // It is not there, or is being removed already.
      if (!(error instanceof EngineRefused && [404, 409].includes(error.status))) this.cleared.delete(engine);
    });
  }
}

interface FoundImage {
  readonly Id: string;
  readonly Size: number;
  readonly Config?: { readonly ExposedPorts?: Readonly<Record<string, unknown>> | null };
}

async function inspect(engine: EngineClient, reference: string): Promise<FoundImage | undefined> {
  try {
    return (await engine.call('GET', `/images/${reference}/json`)) as FoundImage;
  } catch (error) {
    if (error instanceof EngineRefused) return undefined;
    throw error;
  }
}

interface Pull {
  readonly reference: string;
  readonly most: number;
  readonly signal: AbortSignal;
  readonly log: (line: string) => Promise<void>;
}

/** Pulls an image; answers why that failed, undefined when it did not. @throws StepFailed when it is too large */
async function pull(engine: EngineClient, { reference, most, signal, log }: Pull): Promise<string | undefined> {
  const hasTag = reference.includes('@') || /:[^/]*$/.test(reference);
  // Without a tag all tags are pulled.
  const query = new URLSearchParams({ fromImage: hasTag ? reference : `${reference}:latest` });
  let failure: string | undefined;
  const sizes = new Map<unknown, number>();
  const large = new AbortController();
  const call = { signal: AbortSignal.any([signal, large.signal]) };
  try {
    for await (const found of jsonLines(await engine.open('POST', `/images/create?${query.toString()}`, call))) {
      const { error, status, id, progressDetail } = (found ?? {}) as Readonly<Record<string, unknown>>;
      failure ??= typeof error === 'string' ? error : undefined;
      const { total } = (progressDetail ?? {}) as { total?: number };
      if (typeof total === 'number') sizes.set(id, Math.max(total, sizes.get(id) ?? 0));
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      // The engine removes what came of it.
      if (bytes > most) large.abort();
      large.signal.throwIfAborted();
      const isCount = Object.keys((progressDetail as object | undefined) ?? {}).length > 0;
      if (typeof status === 'string' && !isCount) await log(typeof id === 'string' ? `${id}: ${status}` : status);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (large.signal.aborted) throw new StepFailed(`The image has more than ${most} bytes, which are the most.`);
    if (error instanceof ExecutorUnreachable) throw error;
    if (!(error instanceof EngineRefused)) {
      throw new ExecutorUnreachable('The container engine broke off its answer.', { cause: error });
    }
    failure = error.message;
  }
  return failure;
}

/** The TCP port that an image exposes when it is the only one, and else the usual one. */
function portOf({ Config }: FoundImage): number {
  const ports = Object.keys(Config?.ExposedPorts ?? {}).filter((port) => port.endsWith('/tcp'));
  return ports.length === 1 ? Number.parseInt(ports[0]!, 10) : PORT;
}

function addressAt(host: string, server: string): string {
  return Object.assign(new URL(server), { hostname: host }).origin;
}

function failureOf(error: unknown): unknown {
  return error instanceof EngineRefused ? new StepFailed(`The container engine refuses it: ${error.message}`) : error;
}
