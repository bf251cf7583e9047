import { SigningKeys } from '@fairlead/edge';
import { type AdminKey, adminKey } from './admin-key';
import { readConsole } from './console/console-files';
import { consolePages } from './console/console-pages';
import { edgeModule } from './edge.module';
import { StartProblem } from './problem';
import type { Service } from './service';
import { services } from './services';
import { SERVICE_NAMES, type ServiceName, type Settings } from './settings/settings';
import { type Program, requireTogether, type Running, start } from './start';

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
  program: Pick<Program, 'name' | 'embedded' | 'choosesExecutor' | 'drain'>,
  settings: Settings,
): Promise<Edge> {
  const { serviceUrls: urls } = settings;
  requireTogether(settings, urls.rollouts === undefined);
  // Those that run elsewhere too: their controllers say which requests are forwarded to them.
  const loaded = new Map<ServiceName, Service>();
  for (const name of SERVICE_NAMES) loaded.set(name, await services[name](settings));
  const here = [...loaded].filter(([name]) => !urls[name]).map(([, service]) => service);
  const access = await import('@fairlead/access');
  const audit = await import('@fairlead/audit');
  const moduleOf = await edgeModule(loaded);
  const files = settings.console ? readConsole() : undefined;
  const pages = files && consolePages(files);
  let key: AdminKey | undefined;
  const running = await start(
    {
      ...program,
      migrations: [
        ...access.accessMigrations,
        ...audit.auditMigrations,
        ...here.flatMap(({ migrations }) => migrations),
      ],
      entities: [...access.accessEntities, ...audit.auditEntities, ...here.flatMap(({ entities }) => entities)],
      module: (parts, settings) => {
        const keys = new SigningKeys(parts.pool);
        return moduleOf(parts, settings, (service) => {
          const found = urls[service];
          return found && { service, urls: found, keys };
        });
      },
      server: (app) => ({
        authenticate: (request) => app().get(access.Authenticator).authenticate(request),
        refused: (request) => app().get(audit.RejectedRequestsStore).add(request),
        doors: DOORS,
        pages,
      }),
      prepare: async (app) => {
        key = adminKey(settings);
        const admin = app.get(access.AdminKey, { strict: false });
        await admin.register(key.text).catch((error: unknown) => {
          throw error instanceof access.AdminKeyProblem ? new StartProblem(error.message, { cause: error }) : error;
        });
      },
    },
    settings,
  );
  return { ...running, key: key! };
}
