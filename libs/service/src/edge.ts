import { accessMigrations, Authenticator, registerAdminKey } from '@fairlead/access';
import { auditMigrations, RefusalBook } from '@fairlead/audit';
import { SigningKeys } from '@fairlead/edge';
import { type AdminKey, adminKey } from './admin-key';
import { EdgeModule } from './edge.module';
import { type ServiceName, services } from './services';
import type { Settings } from './settings';
import { type Program, type Running, start } from './start';

/** Clients come in thousands, while services behind a gateway have a few connections from it. */
const DOORS = 31;

export interface Edge extends Running {
  readonly key: AdminKey;
}

/**
 * Starts what clients reach: keys, tenants, the audit log, and every service, in this process or in those at its URLs.
 * When a start fails, what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function startEdge(
  program: Pick<Program, 'name' | 'embedded' | 'drain'>,
  settings: Settings,
): Promise<Edge> {
  const { serviceUrls: urls } = settings;
  const here = (Object.keys(services) as ServiceName[]).filter((name) => !urls[name]);
  let key: AdminKey | undefined;
  const running = await start(
    {
      ...program,
      migrations: [...accessMigrations, ...auditMigrations, ...here.flatMap((name) => services[name].migrations)],
      module: (parts) => {
        const keys = new SigningKeys(parts.pool);
        return EdgeModule.with(parts, settings, (service) => {
          const found = urls[service];
          return found && { service, urls: found, keys };
        });
      },
      server: (app) => ({
        authenticate: (request) => app().get(Authenticator).authenticate(request),
        refused: (request) => app().get(RefusalBook).add(request),
        doors: DOORS,
      }),
      prepare: async (app) => {
        key = adminKey(settings);
        await registerAdminKey(app, key.text);
      },
    },
    settings,
  );
  return { ...running, key: key! };
}
