import { accessMigrations, Authenticator, registerAdminKey } from '@fairlead/access';
import { auditMigrations, RefusalBook } from '@fairlead/audit';
import { type AdminKey, adminKey } from './admin-key';
import { EdgeModule } from './edge.module';
import { services } from './services';
import type { Settings } from './settings';
import { type Running, start } from './start';

export interface Edge extends Running {
  readonly key: AdminKey;
}

/**
 * Starts every service in this process on an embedded PostgreSQL, or on the one in `databaseUrl`, and listens. When a
 * start fails, what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function startEdge(name: string, settings: Settings): Promise<Edge> {
  let key: AdminKey | undefined;
  const running = await start(
    {
      name,
      migrations: [
        ...accessMigrations,
        ...auditMigrations,
        ...Object.values(services).flatMap(({ migrations }) => migrations),
      ],
      module: (parts) => EdgeModule.with(parts, settings),
      server: (app) => ({
        authenticate: (request) => app().get(Authenticator).authenticate(request),
        refused: (request) => app().get(RefusalBook).add(request),
      }),
      prepare: async (app) => {
        key = adminKey(settings);
        await registerAdminKey(app, key.text);
      },
      embedded: true,
    },
    settings,
  );
  return { ...running, key: key! };
}
