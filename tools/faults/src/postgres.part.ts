import { type EmbeddedPostgres, startEmbedded } from '@fairlead/postgres';
import { until } from '@fairlead/e2e/testing';
import type { Part } from './part';
import { Proxy } from './proxy';

/** A PostgreSQL that comes back when it is killed, as one under systemd does. */
export class PostgresPart implements Part {
  readonly name = 'PostgreSQL';

  private constructor(
    private readonly server: EmbeddedPostgres,
    readonly proxy: Proxy,
    /** URL of the server itself, not of its proxy. */
    readonly direct: string,
  ) {}

  static async start(dataDir: string): Promise<PostgresPart> {
    const server = await startEmbedded({ dataDir, settings: { max_connections: '500' } });
    return new PostgresPart(server, await Proxy.start(Number(new URL(server.url).port)), server.url);
  }

  /** Through the proxy. */
  get url(): string {
    return Object.assign(new URL(this.direct), { port: String(this.proxy.port) }).href;
  }

  async kill(): Promise<void> {
    const { pid } = this.server;
    process.kill(pid, 'SIGKILL');
    await until(() => this.server.pid !== pid);
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.server.stop();
  }
}
