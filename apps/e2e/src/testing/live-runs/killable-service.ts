import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInstallation, readModels } from '@fairlead/admin';
import { Rebuild } from '@fairlead/eventing';
import { testDatabase } from '@fairlead/postgres/testing';
import { Installation, OPERATOR, ServiceProcess } from '@fairlead/service/testing';
import { Courier } from '../courier';

/** Read model of sessions and their runs. */
const MODEL = 'experiments';

/**
 * A service that is killed while it answers: the only process of an installation or, in the shape of a cluster, the one
 * that stores runs.
 */
export class KillableService {
  private constructor(
    readonly courier: Courier,
    private readonly url: string,
    private readonly victim: Pick<ServiceProcess, 'start' | 'stop'>,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(): Promise<KillableService> {
    const FAIRLEAD_MASTER_KEY = randomBytes(32).toString('base64');
    const settings = { FAIRLEAD_MASTER_KEY, RATE_LIMIT_KEY: 'off', RATE_LIMIT_ADDRESS: 'off' };
    const courier = new Courier();
    if (process.env.FAIRLEAD_TEST_SHAPE === 'cluster') {
      const installation = await Installation.start(settings);
      const { whole, database } = installation;
      const victim = whole.processes.find(({ name }) => name === 'experiments')!;
      const stored = { DATABASE_URL: database.url, FAIRLEAD_MASTER_KEY };
      return new KillableService(courier, whole.url, victim, stored, () => installation.stop()).ready();
    }
    const database = await testDatabase([]);
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-live-runs-'));
    const stored = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: directory, FAIRLEAD_MASTER_KEY };
    const own = { ...settings, ...stored, FAIRLEAD_API_KEY: OPERATOR, LOG_LEVEL: 'error', EXECUTOR: 'record' };
    const victim = new ServiceProcess('standalone', own);
    const end = async () => {
      await victim.stop();
      await database.drop();
      rmSync(directory, { recursive: true, force: true });
    };
    try {
      await victim.start();
    } catch (error) {
      await end();
      throw error;
    }
    return new KillableService(courier, victim.url, victim, stored, end).ready();
  }

  /** Ends the process as `kill -9` does, and starts it again. */
  async kill(): Promise<void> {
    this.courier.expectKill();
    await this.victim.stop('SIGKILL');
    await this.victim.start();
    this.ready();
  }

  /** Makes the read model again from the log; returns the rows in which it differs from what was there. */
  async replay(): Promise<unknown> {
    const installation = await openInstallation(this.settings);
    const model = readModels(installation).find(({ name }) => name === MODEL)!;
    const rebuild = new Rebuild(installation.store, installation.pool, installation.url, model);
    try {
      await rebuild.fill();
      const { differences } = await rebuild.compare();
      await rebuild.swap();
      return differences;
    } finally {
      await rebuild.close();
      await installation.close();
    }
  }

  async stop(): Promise<void> {
    this.courier.giveUp();
    await this.end();
  }

  private ready(): this {
    this.courier.target = { url: this.url, key: OPERATOR };
    return this;
  }
}
