import { eventingMigrations, type Recorded } from '@fairlead/eventing';
import { OTHER_TENANT, TENANT } from '@fairlead/edge/testing';
import { transaction } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import type { DeploymentEvent } from '../model/deployment-events';
import { DeploymentQueries, type DeploymentFilter } from './deployment.queries';
import { DeploymentsView } from './deployment.projection';
import { deploymentsMigrations } from '../domain';
import { codehost, creation, streamOf, uuidOf } from '../testing/samples';

interface Document {
  id: string;
  name: string;
  status: string;
  source: string;
  source_revision_config: object;
}

let database: TestDatabase;
let queries: DeploymentQueries;
beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...deploymentsMigrations]);
  queries = new DeploymentQueries(database.pool);
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('truncate deployments, deployment_documents, revisions'));

const project = (view: DeploymentsView, events: Recorded<DeploymentEvent>[]) =>
  transaction(database.pool, (tx) => view.handle(events, tx));
const find = async (n: number, dialect: 'specification' | 'wire' = 'specification') => {
  const found = await queries.find(TENANT, uuidOf(n), dialect);
  return found && { ...found, document: JSON.parse(found.document) as Document };
};
const list = async (filter: DeploymentFilter = {}, page = { limit: 20, offset: 0 }) => {
  const { items, more } = await queries.list(TENANT, filter, page, 'specification');
  return { names: items.map((item) => (JSON.parse(item) as Document).name), more };
};
const provisioned: DeploymentEvent = { type: 'DeploymentProvisioned', data: {} };
const tagged = (...ids: string[]): DeploymentEvent => ({ type: 'DeploymentTagged', data: { tag_value_ids: ids } });
const moved = (n: number, status: 'BUILDING' | 'DEPLOYED'): DeploymentEvent => ({
  type: 'RevisionStatusChanged',
  data: { revision_id: uuidOf(n), previous_status: 'QUEUED', status },
});

describe('the deployments view', () => {
  it('renders a deployment in both spellings', async () => {
    await project(new DeploymentsView(), streamOf(1, [...creation(1, codehost('agent')), provisioned]));
    const found = await find(1);
    expect(found).toMatchObject({ edition: 2, document: { name: 'agent', status: 'READY', source: 'codehost' } });
    expect(found!.document.source_revision_config).toMatchObject({ graph_config_path: 'graph.json' });
    const wire = await find(1, 'wire');
    expect(wire!.document.source).toBe('github');
    expect(wire!.document.source_revision_config).toMatchObject({ langgraph_config_path: 'graph.json' });
    expect(await queries.find(OTHER_TENANT, uuidOf(1), 'specification')).toBeUndefined();
  });

  it('is the same whether events come at once, one by one, or to a process that knows nothing', async () => {
    const events = streamOf(1, [
      ...creation(1, codehost('agent')),
      provisioned,
      tagged(uuidOf(7)),
      moved(1001, 'BUILDING'),
    ]);
    const row = async () =>
      (
        await database.pool.query<{ state: string }>(
          'select * from deployments join deployment_documents using (id) join revisions on deployment_id = deployments.id order by revisions.id',
        )
      ).rows;
    await project(new DeploymentsView(), events);
    const atOnce = await row();
    await database.pool.query('truncate deployments, deployment_documents, revisions');
    const view = new DeploymentsView();
    for (const event of events) await project(view, [event]);
    expect(await row()).toEqual(atOnce);
    await database.pool.query('truncate deployments, deployment_documents, revisions');
    for (const event of events) await project(new DeploymentsView(), [event]);
    expect(await row()).toEqual(atOnce);
  });

  it('skips events that the row already holds', async () => {
    const events = streamOf(1, [...creation(1, codehost('agent')), provisioned]);
    const view = new DeploymentsView();
    await project(view, events);
    await project(view, events);
    await project(new DeploymentsView(), events.slice(0, 2));
    await project(new DeploymentsView(), events.slice(1));
    expect(await find(1)).toMatchObject({ edition: 2, document: { status: 'READY' } });
  });

  it('is right after a batch that was rolled back', async () => {
    const view = new DeploymentsView();
    const events = streamOf(1, [...creation(1, codehost('agent')), provisioned]);
    await project(view, events.slice(0, 2));
    const failing = transaction(database.pool, async (tx) => {
      await view.handle(events.slice(2), tx);
      throw new Error('crash');
    });
    await expect(failing).rejects.toThrow('crash');
    await project(view, events.slice(2));
    expect(await find(1)).toMatchObject({ edition: 2, document: { status: 'READY' } });
  });

  it('stops at a hole instead of guessing', async () => {
    const view = new DeploymentsView();
    const events = streamOf(1, [...creation(1, codehost('agent')), provisioned, tagged()]);
    await project(view, events.slice(0, 2));
    await expect(project(view, events.slice(3))).rejects.toThrow('its next event is 4');
  });

  it('forgets a removed deployment and its revisions, and ignores what follows', async () => {
    const view = new DeploymentsView();
    const gone: DeploymentEvent[] = [
      { type: 'DeploymentDeletionRequested', data: { name: 'agent', delete_tracing_project: false } },
      { type: 'DeploymentDeleted', data: { name: 'agent' } },
    ];
    const events = streamOf(1, [...creation(1, codehost('agent')), ...gone]);
    await project(view, events.slice(0, 3));
    expect(await find(1)).toMatchObject({ document: { status: 'AWAITING_DELETE' } });
    await project(view, events.slice(3));
    await project(new DeploymentsView(), streamOf(1, [tagged()], 5));
    expect(await find(1)).toBeUndefined();
    expect((await database.pool.query('select from revisions')).rowCount).toBe(0);
  });

  it('keeps revisions with their newest status', async () => {
    const view = new DeploymentsView();
    const created = creation(1, codehost('agent'));
    const again = { ...created[1]!, data: { ...created[1]!.data, revision_id: uuidOf(1002) } } as DeploymentEvent;
    const events = streamOf(1, [...created, moved(1001, 'BUILDING'), again, moved(1001, 'DEPLOYED')]);
    await project(view, events.slice(0, 4));
    await project(view, events.slice(4));
    const { items } = await queries.revisions(uuidOf(1), undefined, { limit: 20, offset: 0 });
    expect(items.map(({ id, status }) => [id, status])).toEqual([
      [uuidOf(1002), 'QUEUED'],
      [uuidOf(1001), 'DEPLOYED'],
    ]);
    expect(items[1]).toMatchObject({ created_at: '2026-01-01T00:01:02.000Z', updated_at: '2026-01-01T00:01:05.000Z' });
  });
});

describe('rule 13: the list', () => {
  const names = ['agent', 'Agent-Two', 'my_agent', 'other', '100%', 'ag\\ent'];
  beforeEach(async () => {
    const view = new DeploymentsView();
    for (const [n, name] of names.entries()) await project(view, streamOf(n + 1, creation(n + 1, codehost(name))));
    await project(view, streamOf(50, creation(50, codehost('agent'), OTHER_TENANT)));
  });

  it('is of one tenant, the newest first', async () => {
    expect(await list()).toEqual({ names: [...names].reverse(), more: false });
  });

  it('orders by id what was created at the same time', async () => {
    await database.pool.query(`update deployments set created_at = '2026-01-01'`);
    expect((await list()).names).toEqual(names);
    expect((await list({}, { limit: 2, offset: 1 })).names).toEqual(names.slice(1, 3));
    expect((await list({ name_contains: 'g' })).names).toEqual(['agent', 'Agent-Two', 'my_agent', 'ag\\ent']);
  });

  it('shows an exact match of name_contains first, and finds parts in any case', async () => {
    expect((await list({ name_contains: 'agent' })).names).toEqual(['agent', 'my_agent', 'Agent-Two']);
    expect((await list({ name_contains: 'AGENT' })).names).toEqual(['my_agent', 'Agent-Two', 'agent']);
    expect((await list({ name_contains: 'nothing' })).names).toEqual([]);
  });

  it('takes name_contains literally', async () => {
    expect((await list({ name_contains: '%' })).names).toEqual(['100%']);
    expect((await list({ name_contains: '_' })).names).toEqual(['my_agent']);
    expect((await list({ name_contains: '\\' })).names).toEqual(['ag\\ent']);
  });

  it('pages, with and without a name, and says whether more follow', async () => {
    const page = (offset: number) => ({ limit: 2, offset });
    expect(await list({}, page(0))).toEqual({ names: ['ag\\ent', '100%'], more: true });
    expect(await list({}, page(4))).toEqual({ names: ['Agent-Two', 'agent'], more: false });
    expect(await list({}, page(6))).toEqual({ names: [], more: false });
    expect(await list({ name_contains: 'agent' }, page(0))).toEqual({ names: ['agent', 'my_agent'], more: true });
    expect(await list({ name_contains: 'agent' }, page(2))).toEqual({ names: ['Agent-Two'], more: false });
  });
});
