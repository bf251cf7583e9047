import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessMigrations } from '@fairlead/access';
import { auditMigrations } from '@fairlead/audit';
import { httpMigrations } from '@fairlead/edge';
import { eventingMigrations } from '@fairlead/eventing';
import type { MigrationClass } from '@fairlead/postgres';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { services } from '../services';
import { type Environment, SERVICE_NAMES } from '../settings/settings';
import { ServiceProcess } from './service-process';
import { startWhole, type Whole } from './whole';

/** The admin key of every installation. */
export const OPERATOR = 'installation-operator-key';

/** A whole installation with a database and a directory of its own, and requests of its operator. */
export class Installation {
  private constructor(
    readonly whole: Whole,
    readonly database: TestDatabase,
    private readonly directory: string,
    private readonly settings: Environment,
  ) {}

  /** Starts an installation; `settings` take precedence over the usual ones. */
  static async start(settings: Environment = {}, startUp: typeof startWhole = startWhole): Promise<Installation> {
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-installation-'));
    const database = await testDatabase(await everyMigration());
    try {
      const all = {
        PORT: '0',
        DATABASE_URL: database.url,
        FAIRLEAD_DATA_DIR: directory,
        FAIRLEAD_API_KEY: OPERATOR,
        LOG_LEVEL: 'silent',
        ...settings,
      };
      return new Installation(await startUp(all), database, directory, all);
    } catch (error) {
      await remove(database, directory);
      throw error;
    }
  }

  get url(): string {
    return this.whole.url;
  }

  /** Another server of the same installation, in a process of its own; it is not started yet. */
  another(preload: readonly string[]): ServiceProcess<'standalone'> {
    return new ServiceProcess('standalone', this.settings, preload);
  }

  /** Sends a request of the operator, with JSON when there is a body; a text is sent as it is. */
  fetch(method: string, path: string, body?: object | string, headers: Readonly<Record<string, string>> = {}) {
    return fetch(this.url + path, {
      method,
      headers: { 'x-api-key': OPERATOR, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** Sends a request of the operator, and reads the JSON of its answer. */
  async send(...request: Parameters<Installation['fetch']>) {
    const response = await this.fetch(...request);
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Returns the JSON of an answer. @throws Error unless it is a success. */
  async ask(...request: Parameters<Installation['send']>) {
    const { status, json } = await this.send(...request);
    const [method, path] = request;
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
    return json;
  }

  async stop(): Promise<void> {
    try {
      await this.whole.stop();
    } finally {
      await remove(this.database, this.directory);
    }
  }
}

/**
 * All migrations of an installation. Services find them applied: tests of separate processes show that they apply them.
 */
async function everyMigration(): Promise<MigrationClass[]> {
  const loaded = await Promise.all(SERVICE_NAMES.map((name) => services[name]()));
  const ofServices = loaded.flatMap(({ migrations }) => migrations);
  return [...eventingMigrations, ...httpMigrations, ...accessMigrations, ...auditMigrations, ...ofServices];
}

async function remove(database: TestDatabase, directory: string): Promise<void> {
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
}
