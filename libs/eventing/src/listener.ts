import { Client, type Pool } from 'pg';

const RECONNECT_MS = 500;

/** One LISTEN connection of this process: calls `woken` with the payload of each notification, and
 * without one when notifications may have been missed; reconnects by itself when it breaks. */
export class Listener {
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private opened = false;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    private readonly channel: string,
    private readonly woken: (payload?: string) => void,
  ) {}

  /** Starts listening; further calls change nothing. */
  open(): void {
    if (this.opened || this.closed) return;
    this.opened = true;
    void this.connect();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new Client({ ...this.pool.options, keepAlive: true, statement_timeout: 0, query_timeout: 0 });
    const lost = () => {
      if (this.client !== client) return;
      this.client = undefined;
      client.end().catch(() => undefined);
      if (!this.closed) this.timer = setTimeout(() => void this.connect(), RECONNECT_MS);
    };
    this.client = client;
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      this.woken(payload);
    });
    try {
      await client.connect();
      await client.query(`listen ${this.channel}`);
      this.woken();
    } catch {
      lost();
    }
  }
}
