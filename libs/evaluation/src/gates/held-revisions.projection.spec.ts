import { randomUUID } from 'node:crypto';
import { type DomainEvent, eventingMigrations } from '@fairlead/eventing';
import { recorded } from '@fairlead/eventing/testing';
import { experimentsMigrations } from '@fairlead/experiments';
import { transaction } from '@fairlead/postgres';
import { testDatabase } from '@fairlead/postgres/testing';
import { heldRevisionsView } from './held-revisions.projection';
import { HeldRevisions } from './held-revisions.store';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...experimentsMigrations]);
});
afterAll(() => database?.drop());

const tenant = randomUUID();
const [deployment_id, revision_id] = [randomUUID(), randomUUID()];
const until = '2030-01-01T00:00:00.000Z';
const held = { revision_id, gates: [], active_revision_id: null, until };
const ended = { revision_id, previous_status: 'AWAITING_DEPLOY', status: 'SKIPPED' };

async function project(...events: DomainEvent[]): Promise<void> {
  const all = recorded(events, `deployment-${deployment_id}`).map((event) => ({ ...event, metadata: { tenant } }));
  await transaction(database.pool, (tx) => heldRevisionsView.handle(all, tx));
}

describe('a revision that gates hold', () => {
  let queue: HeldRevisions;
  beforeEach(async () => {
    queue = new HeldRevisions(database.pool);
    await project({ type: 'RevisionHeld', data: held });
  });
  afterEach(() => project({ type: 'DeploymentDeletionRequested', data: {} }));

  it('is found in its workspace, and looked at', async () => {
    const row = { ...held, tenant_id: tenant, deployment_id, stamp: '' };
    expect(await queue.find(tenant, revision_id)).toMatchObject(row);
    expect(await queue.find(randomUUID(), revision_id)).toBeUndefined();
    expect(await queue.claim(5)).toMatchObject([{ id: revision_id, tenant }]);
  });

  it('is not looked at any more, and still found, when all is said', async () => {
    const [item] = await queue.claim(1);
    await queue.finish(item!);
    expect(await queue.claim(5)).toEqual([]);
    expect(await queue.find(tenant, revision_id)).toBeDefined();
  });

  it.each<[string, DomainEvent, boolean]>([
    ['when it is released', { type: 'RevisionReleased', data: { revision_id, by: 'verdict' } }, true],
    ['when it ends', { type: 'RevisionStatusChanged', data: ended }, true],
    ['with its deployment', { type: 'DeploymentDeletionRequested', data: {} }, true],
    ['when another ends', { type: 'RevisionStatusChanged', data: { ...ended, revision_id: randomUUID() } }, false],
    ['when it is built', { type: 'RevisionStatusChanged', data: { ...ended, status: 'DEPLOYING' } }, false],
  ])('is gone %s: %o, %s', async (_, event, isGone) => {
    await project(event);
    expect((await queue.find(tenant, revision_id)) === undefined).toBe(isGone);
    expect(await queue.claim(5)).toHaveLength(isGone ? 0 : 1);
  });
});
