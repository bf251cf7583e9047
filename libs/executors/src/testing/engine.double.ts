import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

interface DoubleImage {
  readonly Id: string;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface DoubleContainer {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: DoubleImage;
  readonly env: readonly string[];
  readonly port?: string;
  /** Command that runs in place of the one that the image names. */
  readonly words?: readonly string[];
  readonly frames: Buffer[];
  readonly readers: Set<ServerResponse>;
  child?: ChildProcess;
  exit?: Promise<number>;
}

interface Wanted {
  readonly Image: string;
  readonly Env: string[];
  readonly Labels: Record<string, string>;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly HostConfig: {
    readonly PortBindings?: Readonly<Record<string, readonly [{ readonly HostPort: string }]>>;
    readonly LogConfig?: object;
  };
}

/** Stands in for a container engine where there is none: it starts what images name as processes of this machine. */
export class EngineDouble {
  readonly images = new Map<string, DoubleImage>();
  /** Images that can be pulled. */
  readonly registry = new Map<string, DoubleImage>();
  readonly containers = new Map<string, DoubleContainer>();
  readonly networks = new Map<string, Readonly<Record<string, string>>>();
  /** The requests to create containers. */
  readonly created: Wanted[] = [];
  /** Bytes that every container says to have written. */
  written = 0;
  private readonly server: Server;

  constructor(readonly socket: string) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: Error) => send(response, 500, { message: error.message }));
    });
  }

  async start(): Promise<void> {
    this.server.listen(this.socket);
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    for (const { child } of this.containers.values()) child?.kill('SIGKILL');
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://engine');
    const [, kind = '', name = '', verb = ''] =
      /^\/([^/]+)(?:\/(.+?))?(?:\/(json|start|stop|kill|wait|logs|stats))?$/.exec(url.pathname)!;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length > 0 ? (JSON.parse(Buffer.concat(parts).toString()) as unknown) : undefined;
    const asked = `${request.method} ${kind}`;
    if (kind === 'info') return send(response, 200, { Name: hostname(), SecurityOptions: [] });
    if (kind === '_ping') return void response.end('OK');
    if (asked === 'POST networks') {
      const { Name, Labels } = body as { Name: string; Labels: Record<string, string> };
      if (this.networks.has(Name)) return send(response, 409, { message: `network with name ${Name} already exists` });
      this.networks.set(Name, Labels);
      return send(response, 201, { Id: Name });
    }
    if (asked === 'DELETE networks') return send(response, this.networks.delete(name) ? 204 : 404, {});
    if (asked === 'GET networks' && name !== '') {
      // Addresses that nobody has, because the server closes them to others.
      return send(response, 200, { IPAM: { Config: [{ Subnet: '240.0.0.0/24', Gateway: '240.0.0.1' }] } });
    }
    if (asked === 'GET networks') {
      const found = [...this.networks].filter(([, labels]) => isWanted(url, labels));
      return send(
        response,
        200,
        found.map(([Name]) => ({ Name })),
      );
    }
    if (asked === 'DELETE images') {
      const known = [...this.images].find(([, { Id }]) => Id === name)?.[0];
      return send(response, known !== undefined && this.images.delete(known) ? 200 : 404, []);
    }
    if (kind === 'images') return this.image(url, name, response);
    if (asked === 'POST containers' && name === 'create') {
      return this.create(url.searchParams.get('name')!, body as Wanted, response);
    }
    if (asked === 'GET containers' && name === 'json') {
      const found = [...this.containers.values()].filter(({ labels }) => isWanted(url, labels));
      return send(
        response,
        200,
        found.map(({ name: one }) => ({ Names: [`/${one}`] })),
      );
    }
    const container = this.containers.get(name);
    if (!container) return send(response, 404, { message: `No such container: ${name}` });
    if (request.method === 'DELETE') return this.remove(container, response);
    if (verb === 'start') return this.run(container, response);
    if (verb === 'stop') {
      container.child?.kill('SIGTERM');
      await container.exit;
      return send(response, 204, {});
    }
    if (verb === 'wait') return send(response, 200, { StatusCode: await container.exit });
    if (verb === 'json') return send(response, 200, { State: { OOMKilled: false }, SizeRw: this.written });
    if (verb === 'kill') {
      container.child?.kill('SIGKILL');
      return send(response, 204, {});
    }
    if (verb === 'logs') return this.follow(container, response);
    const use = { cpu_stats: { cpu_usage: { total_usage: 1 } }, memory_stats: { usage: 5e6 } };
    response.write(`${JSON.stringify({ read: new Date().toISOString(), ...use })}\n`);
    await container.exit;
    response.end();
  }

  private image(url: URL, name: string, response: ServerResponse): void {
    const reference = url.searchParams.get('fromImage') ?? name;
    const found = (name === 'create' ? this.registry.get(reference) : undefined) ?? this.images.get(reference);
    if (name === 'create') {
      if (found) this.images.set(reference, found);
      response.write('{"status":"Pulling from team/agent"}\n');
      return void response.end(
        found ? '{"status":"Download complete","id":"layer"}\n' : '{"error":"manifest unknown"}\n',
      );
    }
    if (!found) return send(response, 404, { message: `No such image: ${name}` });
    send(response, 200, { Id: found.Id, Size: 1000, Config: { ExposedPorts: { '8123/tcp': {} } } });
  }

  private create(name: string, wanted: Wanted, response: ServerResponse): void {
    this.created.push(wanted);
    const image = [...this.images.values()].find(({ Id }) => Id === wanted.Image);
    if (!image) return send(response, 404, { message: 'No such image' });
    const { Entrypoint, Cmd = [], HostConfig } = wanted;
    const port = Object.values(HostConfig.PortBindings ?? {})[0]?.[0].HostPort;
    const made = {
      name,
      labels: wanted.Labels,
      image,
      env: wanted.Env,
      port,
      words: Entrypoint && [...Entrypoint, ...Cmd],
      frames: [],
      readers: new Set<ServerResponse>(),
    };
    this.containers.set(name, made);
    send(response, 201, { Id: name });
  }

  private run(container: DoubleContainer, response: ServerResponse): void {
    const { image, env, port, frames, readers } = container;
    const given = Object.fromEntries(
      env.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
    const [command, ...words] = container.words ?? image.words;
    // Without a network of its own it listens where the port would lead to.
    const child = spawn(command!, words, {
      env: { ...image.env, ...given, ...(port !== undefined && { PORT: port }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    container.child = child;
    const exit = once(child, 'close') as Promise<[number | null]>;
    container.exit = exit.then(([code]) => {
      readers.forEach((reader) => reader.end());
      return code ?? 137;
    });
    for (const [origin, stream] of [child.stdout, child.stderr].entries()) {
      stream.on('data', (data: Buffer) => {
        const header = Buffer.alloc(8);
        header[0] = origin + 1;
        header.writeUInt32BE(data.length, 4);
        const frame = Buffer.concat([header, data]);
        frames.push(frame);
        readers.forEach((reader) => reader.write(frame));
      });
    }
    send(response, 204, {});
  }

  private follow({ frames, readers, child }: DoubleContainer, response: ServerResponse): void {
    response.flushHeaders();
    frames.forEach((frame) => response.write(frame));
    if (child?.exitCode !== null || child.signalCode !== null) response.end();
    else readers.add(response);
  }

  private async remove(container: DoubleContainer, response: ServerResponse): Promise<void> {
    container.child?.kill('SIGKILL');
    await container.exit;
    this.containers.delete(container.name);
    send(response, 204, {});
  }
}

/** True when something has the label that a list is asked for. */
function isWanted(url: URL, labels: Readonly<Record<string, string>>): boolean {
  const { label } = JSON.parse(url.searchParams.get('filters')!) as { label: readonly string[] };
  return label.every((one) => Object.entries(labels).some((entry) => entry.join('=') === one));
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(status === 204 ? undefined : JSON.stringify(body));
}
