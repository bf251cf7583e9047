import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { BlockList } from 'node:net';
import { PROGRAM_KEY } from '@fairlead/api';
import type { ContainerNetwork } from './container-networks';
import { freePort } from '../running/readiness.client';

/** Headers of a request that are not passed on: other credentials, what proxies say, and what holds for one connection. */
const DROPPED = /^(?:authorization|cookie|forwarded|x-forwarded-.*|x-real-ip|connection|keep-alive|te|upgrade)$/;
/** Connections that one container may have open: another one is closed at once. */
const CONNECTIONS = 100;
const REFUSAL = JSON.stringify({ detail: 'This address only takes runs, with the key of a deployment.' });

/**
 * Takes the runs of containers at the address that this machine has in their network, and passes them on to this server,
 * which may listen on loopback. Connections from elsewhere are closed, and a request needs the key of a program, which
 * opens nothing but the routes that take runs.
 */
class RunsGateway {
  users = 0;
  readonly address: string;
  private readonly server: Server;
  private listening: Promise<unknown> | undefined;
  private readonly own = new BlockList();
  private readonly open = new Map<string, number>();

  constructor(
    private readonly network: ContainerNetwork,
    private readonly port: number,
    private readonly target: string,
  ) {
    const [address = '', prefix] = network.subnet.split('/');
    this.own.addSubnet(address, Number(prefix));
    this.address = `http://${network.gateway}:${port}`;
    this.server = createServer((request, response) => this.pass(request, response));
    this.server.on('connection', (socket) => {
      const { remoteAddress = '' } = socket;
      // Other programs of this machine have the address that this machine has there.
      const isOwn = this.own.check(remoteAddress) && remoteAddress !== network.gateway;
      const count = this.open.get(remoteAddress) ?? 0;
      if (!isOwn || count >= CONNECTIONS) return socket.destroy();
      this.open.set(remoteAddress, count + 1);
      socket.once('close', () => {
        const left = this.open.get(remoteAddress)! - 1;
        if (left > 0) this.open.set(remoteAddress, left);
        else this.open.delete(remoteAddress);
      });
    });
  }

  listen(): Promise<unknown> {
    this.listening ??= once(this.server.listen(this.port, this.network.gateway), 'listening').catch(
      (error: unknown) => {
        this.listening = undefined;
        throw error;
      },
    );
    return this.listening;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private pass(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '', headers } = request;
    if (!String(headers['x-api-key']).startsWith(PROGRAM_KEY)) {
      response.writeHead(403, { 'content-type': 'application/json', connection: 'close' }).end(REFUSAL);
      return;
    }
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !DROPPED.test(name)));
    const outgoing = send(this.target, { agent: false, method, path: url, headers: kept });
    outgoing.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.once('close', () => outgoing.destroy());
    request.pipe(outgoing);
  }
}

interface RunsAccess {
  readonly address: string;
  /** Begins to listen, unless it does: Podman makes the address when a container of the network starts. @throws Error */
  listen(): Promise<unknown>;
  end(): void;
}

export class RunsGateways {
  private readonly all = new Map<string, RunsGateway>();

  async use(network: ContainerNetwork, target: string): Promise<RunsAccess> {
    const port = await freePort();
    const gateway = this.all.get(network.gateway) ?? new RunsGateway(network, port, target);
    this.all.set(network.gateway, gateway);
    gateway.users++;
    const end = () => {
      if (--gateway.users > 0) return;
      this.all.delete(network.gateway);
      gateway.close();
    };
    return { address: gateway.address, listen: () => gateway.listen(), end };
  }
}
