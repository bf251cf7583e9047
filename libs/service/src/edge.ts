import { accessEntities, accessMigrations, Authenticator, registerAdminKey } from '@fairlead/access';
import { auditEntities, auditMigrations, RejectedRequestLog } from '@fairlead/audit';
import { SigningKeys } from '@fairlead/edge';
import { type AdminKey, adminKey } from './admin-key';
import { readConsole } from './console/console.files';
import { consolePages } from './console/console.pages';
import { EdgeModule } from './edge.module';
import type { Service } from './service';
import { SERVICE_NAMES, type ServiceName, services } from './services';
import type { Settings } from './settings';
import { type Program, type Running, start } from './start';

/**
 * Further handles to listen on. Thousands of clients connect; a service behind a gateway has a few connections and
 * needs one.
 */
const DOORS = 31;

export interface Edge extends Running {
  readonly key: AdminKey;
}

/**
 * Starts keys, tenants, the audit log, and every service, in this process or in those at its URLs. When a start fails,
 * what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function startEdge(
  program: Pick<Program, 'name' | 'embedded' | 'drain'>,
  settings: Settings,
): Promise<Edge> {
  const { serviceUrls: urls } = settings;
  // Those that run elsewhere too: their controllers say which requests are forwarded to them.
  const loaded = new Map<ServiceName, Service>();
  for (const name of SERVICE_NAMES) loaded.set(name, await services[name]());
  const here = [...loaded].filter(([name]) => !urls[name]).map(([, service]) => service);
  const files = settings.console ? readConsole() : undefined;
  const pages = files && consolePages(files);
  let key: AdminKey | undefined;
  const running = await start(
    {
      ...program,
      migrations: [...accessMigrations, ...auditMigrations, ...here.flatMap(({ migrations }) => migrations)],
      entities: [...accessEntities, ...auditEntities, ...here.flatMap(({ entities }) => entities)],
      module: (parts) => {
        const keys = new SigningKeys(parts.pool);
        return EdgeModule.with(parts, settings, loaded, (service) => {
          const found = urls[service];
          return found && { service, urls: found, keys };
        });
      },
      server: (app) => ({
        authenticate: (request) => app().get(Authenticator).authenticate(request),
        refused: (request) => app().get(RejectedRequestLog).add(request),
        doors: DOORS,
        pages,
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
