import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { Fault } from './features/shell/fault';
import { Workspace } from './features/shell/workspace';
import { NotFound, Root } from './features/shell/root';
import { Shared } from './features/shell/shared';
import { parseSearch, stringifySearch } from './search';
import { latePage } from './ui/late';

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
const projects = () => import('./features/runs/projects');
const project = () => import('./features/runs/project');
const thread = () => import('./features/runs/thread');
const run = () => import('./features/runs/run-page');
const deployments = () => import('./features/deployments/list');
const deployment = () => import('./features/deployments/pages');
const audit = () => import('./features/audit/pages');
const verify = () => import('./features/audit/verify');
const keys = () => import('./features/keys/pages');
const sharedDataset = () => import('./features/experiments/shared');
const sharedRun = () => import('./features/runs/shared');
const sharedComparison = () => import('./features/compare/shared');
const linkedRun = () => import('./features/runs/linked');
const demo = () => import('./features/demo/pages');
const health = () => import('./features/health/pages');
const integrations = () => import('./features/connections/integrations');
const providers = () => import('./features/connections/providers');
const listeners = () => import('./features/connections/listeners');
const monitors = () => import('./features/connections/monitors');
const webhooks = () => import('./features/connections/webhooks');
const page = { getParentRoute: () => workspace, validateSearch };

const pages = [
  createRoute({ ...page, path: '/experiments', component: latePage(experiments, 'ExperimentsPage') }),
  createRoute({ ...page, path: '/datasets', component: latePage(experiments, 'DatasetsPage') }),
  createRoute({ ...page, path: '/datasets/$dataset', component: latePage(experiments, 'DatasetPage') }),
  createRoute({ ...page, path: '/datasets/$dataset/compare', component: latePage(compare, 'ComparePage') }),
  createRoute({
    ...page,
    path: '/datasets/$dataset/e/$example',
    component: latePage(example, 'ExamplePage'),
  }),
  createRoute({ ...page, path: '/projects', component: latePage(projects, 'ProjectsPage') }),
  createRoute({ ...page, path: '/projects/p/$session', component: latePage(project, 'ProjectPage') }),
  createRoute({ ...page, path: '/projects/p/$session/r/$run', component: latePage(run, 'RunPage') }),
  createRoute({ ...page, path: '/projects/p/$session/t/$thread', component: latePage(thread, 'ThreadPage') }),
  createRoute({ ...page, path: '/host/deployments', component: latePage(deployments, 'DeploymentsPage') }),
  createRoute({
    ...page,
    path: '/host/deployments/$deployment',
    component: latePage(deployment, 'DeploymentPage'),
  }),
  createRoute({ ...page, path: '/audit', component: latePage(audit, 'AuditPage') }),
  createRoute({ ...page, path: '/audit/verify', component: latePage(verify, 'VerifyPage') }),
  createRoute({ ...page, path: '/keys', component: latePage(keys, 'KeysPage') }),
  createRoute({ ...page, path: '/integrations', component: latePage(integrations, 'IntegrationsPage') }),
  createRoute({ ...page, path: '/providers', component: latePage(providers, 'ProvidersPage') }),
  createRoute({ ...page, path: '/listeners', component: latePage(listeners, 'ListenersPage') }),
  createRoute({ ...page, path: '/monitors', component: latePage(monitors, 'MonitorsPage') }),
  createRoute({ ...page, path: '/webhooks', component: latePage(webhooks, 'WebhooksPage') }),
  createRoute({ ...page, path: '/webhooks/$webhook', component: latePage(webhooks, 'WebhookPage') }),
  createRoute({ ...page, path: '/demo', component: latePage(demo, 'DemoPage') }),
  createRoute({ ...page, path: '/health', component: latePage(health, 'HealthPage') }),
];

const open = { getParentRoute: () => shared, validateSearch };
const sharedPages = [
  createRoute({ ...open, path: '/d', component: latePage(sharedDataset, 'SharedDatasetPage') }),
  createRoute({ ...open, path: '/r', component: latePage(sharedRun, 'SharedRunPage') }),
  createRoute({ ...open, path: '/compare', component: latePage(sharedComparison, 'SharedComparePage') }),
  createRoute({ ...open, path: '/shared-run', component: latePage(linkedRun, 'LinkedRunPage') }),
];

export const router = createRouter({
  routeTree: root.addChildren([home, login, workspace.addChildren(pages), shared.addChildren(sharedPages)]),
  parseSearch,
  stringifySearch,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Fault,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
