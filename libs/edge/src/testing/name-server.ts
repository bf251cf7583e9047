import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on 127.0.0.1 that answers with one IPv4 address for the names that it knows, and not at all otherwise. */
export class NameServer {
  /** The names that were asked for, one entry for each packet. */
  readonly asked: string[] = [];
  private readonly socket: Socket = createSocket('udp4');

  private constructor(private readonly known: Readonly<Record<string, string>>) {}

  static async start(known: Readonly<Record<string, string>> = {}): Promise<NameServer> {
    const server = new NameServer(known);
    server.socket.on('message', (packet, { port }) => server.take(packet, port));
    server.socket.bind(0, '127.0.0.1');
    await once(server.socket, 'listening');
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  private take(packet: Buffer, port: number): void {
    const labels: string[] = [];
    let at = 12;
    for (let length = packet[at]!; length > 0; length = packet[at]!) {
      labels.push(packet.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join('.');
    this.asked.push(name);
    const address = this.known[name];
    if (address === undefined) return;
    const isIPv4 = packet.readUInt16BE(at + 1) === 1;
    const head = Buffer.from(packet.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isIPv4 ? 1 : 0, 6);
    head.fill(0, 8, 12);
    // A pointer to the name in the question, type A, class IN, a minute, four bytes.
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]);
    const question = packet.subarray(12, at + 5);
    this.socket.send(Buffer.concat(isIPv4 ? [head, question, answer] : [head, question]), port, '127.0.0.1');
  }
}
