import { Client, type Pool } from 'pg';

const RECONNECT_MS = 500;
/** Checks of a silent connection, which may be dead: their interval, and the time limit of an answer (ms). */
const PROOF_MS = { every: 3000, within: 8000 };

/**
 * A LISTEN connection of this process. It calls `woken` with the payload of each notification, and without one when
 * notifications may have been missed. It reconnects by itself.
 */
export class Listener {
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private proving: NodeJS.Timeout | undefined;
  private opened = false;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    private readonly channel: string,
    private readonly woken: (payload?: string) => void,
  ) {}

  open(): void {
    if (this.opened || this.closed) return;
    this.opened = true;
    void this.connect();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.proving);
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const limits = { statement_timeout: 0, query_timeout: PROOF_MS.within };
    const client = new Client({ ...this.pool.options, keepAlive: true, ...limits });
    const lost = () => {
      if (this.client !== client) return;
      this.client = undefined;
      clearInterval(this.proving);
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
      if (this.closed) return;
      this.proving = setInterval(() => void client.query('select 1').catch(lost), PROOF_MS.every);
      this.proving.unref();
    } catch {
      lost();
    }
  }
}
