import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { Workspace } from './features/shell/workspace';
import { NotFound, Root } from './features/shell/root';
import { Shared } from './features/shell/shared';
import { parseSearch, stringifySearch } from './search';

type Search = Record<string, string | undefined>;
const validateSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

const root = createRootRoute({ component: Root });
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/o/$w/experiments', params: { w: '-' } });
  },
});
const login = createRoute({ getParentRoute: () => root, path: '/login' });
const workspace = createRoute({ getParentRoute: () => root, path: '/o/$w', component: Workspace, validateSearch });
const shared = createRoute({ getParentRoute: () => root, path: '/public/$token', component: Shared, validateSearch });
const experiments = () => import('./features/experiments/pages');
const compare = () => import('./features/compare/pages');
const example = () => import('./features/compare/example');
const runs = () => import('./features/runs/pages');
const deployments = () => import('./features/deployments/pages');
const audit = () => import('./features/audit/pages');
const verify = () => import('./features/audit/verify');
const keys = () => import('./features/keys/pages');
const sharedDataset = () => import('./features/experiments/shared');
const sharedRun = () => import('./features/runs/shared');
const sharedComparison = () => import('./features/compare/shared');
const linkedRun = () => import('./features/runs/linked');
const health = () => import('./features/health/pages');
const integrations = () => import('./features/connections/integrations');
const providers = () => import('./features/connections/providers');
const listeners = () => import('./features/connections/listeners');
const webhooks = () => import('./features/connections/webhooks');
const page = { getParentRoute: () => workspace, validateSearch };

const pages = [
  createRoute({ ...page, path: '/experiments', component: lazyRouteComponent(experiments, 'ExperimentsPage') }),
  createRoute({ ...page, path: '/datasets', component: lazyRouteComponent(experiments, 'DatasetsPage') }),
  createRoute({ ...page, path: '/datasets/$dataset', component: lazyRouteComponent(experiments, 'DatasetPage') }),
  createRoute({ ...page, path: '/datasets/$dataset/compare', component: lazyRouteComponent(compare, 'ComparePage') }),
  createRoute({
    ...page,
    path: '/datasets/$dataset/e/$example',
    component: lazyRouteComponent(example, 'ExamplePage'),
  }),
  createRoute({ ...page, path: '/projects/p/$session', component: lazyRouteComponent(runs, 'ProjectPage') }),
  createRoute({ ...page, path: '/projects/p/$session/r/$run', component: lazyRouteComponent(runs, 'RunPage') }),
  createRoute({ ...page, path: '/host/deployments', component: lazyRouteComponent(deployments, 'DeploymentsPage') }),
  createRoute({
    ...page,
    path: '/host/deployments/$deployment',
    component: lazyRouteComponent(deployments, 'DeploymentPage'),
  }),
  createRoute({ ...page, path: '/audit', component: lazyRouteComponent(audit, 'AuditPage') }),
  createRoute({ ...page, path: '/audit/verify', component: lazyRouteComponent(verify, 'VerifyPage') }),
  createRoute({ ...page, path: '/keys', component: lazyRouteComponent(keys, 'KeysPage') }),
  createRoute({ ...page, path: '/integrations', component: lazyRouteComponent(integrations, 'IntegrationsPage') }),
  createRoute({ ...page, path: '/providers', component: lazyRouteComponent(providers, 'ProvidersPage') }),
  createRoute({ ...page, path: '/listeners', component: lazyRouteComponent(listeners, 'ListenersPage') }),
  createRoute({ ...page, path: '/webhooks', component: lazyRouteComponent(webhooks, 'WebhooksPage') }),
  createRoute({ ...page, path: '/webhooks/$webhook', component: lazyRouteComponent(webhooks, 'WebhookPage') }),
  createRoute({ ...page, path: '/health', component: lazyRouteComponent(health, 'HealthPage') }),
];

const open = { getParentRoute: () => shared, validateSearch };
const sharedPages = [
  createRoute({ ...open, path: '/d', component: lazyRouteComponent(sharedDataset, 'SharedDatasetPage') }),
  createRoute({ ...open, path: '/r', component: lazyRouteComponent(sharedRun, 'SharedRunPage') }),
  createRoute({ ...open, path: '/compare', component: lazyRouteComponent(sharedComparison, 'SharedComparePage') }),
  createRoute({ ...open, path: '/shared-run', component: lazyRouteComponent(linkedRun, 'LinkedRunPage') }),
];

export const router = createRouter({
  routeTree: root.addChildren([home, login, workspace.addChildren(pages), shared.addChildren(sharedPages)]),
  parseSearch,
  stringifySearch,
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
