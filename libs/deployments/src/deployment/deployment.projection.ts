import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Recent, weightOf } from '@fairlead/schema';
import type { PoolClient } from 'pg';
import { deploymentModel, type Deployment, type DeploymentState } from '../model/deployment';
import type { DeploymentEvent } from '../model/deployment-events';
import { deploymentOf, type DeploymentRecord, deploymentRecord, unshownPart } from './record';
import { RevisionView } from './revision.projection';
import { imageVersion } from '../model/image-reference';

/** Name of the follower that keeps this view. */
export const DEPLOYMENTS_VIEW = 'deployments.view';

/** A deployment's fold as of a version of its stream. */
interface Fold {
  readonly state: DeploymentState;
  readonly version: number;
}

const FOLDS_KEPT = 5000;
const FOLDS_WEIGHT = { bytes: 128 * 1024 * 1024, of: ({ state }: Fold) => weightOf(state) };

/**
 * Keeps the tables `deployments` and `revisions`. A batch is folded in memory and written with one statement per
 * table; a deployment is rendered once per batch. Events that the row already holds are skipped.
 */
export class DeploymentsView implements Projection {
  readonly name = DEPLOYMENTS_VIEW;
  readonly categories = ['deployment'];
  readonly pipelined = true;
  readonly gatherMs = 50;
  private readonly folds = new Recent<Fold>(FOLDS_KEPT, FOLDS_WEIGHT);

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const streams = byDeployment(events as Recorded<DeploymentEvent>[]);
    const folds = await this.load(streams, tx);
    const revisions = new RevisionView();
    const changed = new Map<string, Fold>();
    for (const [id, news] of streams) {
      const before = folds.get(id);
      const after = apply(before, news, revisions);
      if (after !== before && after) changed.set(id, after);
    }
    const present = [...changed].filter((entry): entry is [string, Fold & { state: Deployment }] => {
      const { state } = entry[1];
      return state !== null && !state.removed;
    });
    const gone = [...changed].filter(([, { state }]) => state?.removed).map(([id]) => id);
    if (present.length > 0) {
      const listedAnew = present.filter(
        ([id, { state }]) => listedBy(state) !== listedBy(folds.get(id)?.state ?? null),
      );
      if (listedAnew.length > 0) await list(tx, listedAnew);
      await render(tx, present);
    }
    await revisions.write(tx);
    if (gone.length > 0) await remove(tx, gone);
    this.keep(changed);
  };

  /** Where each stream of a batch stands: from memory when the batch follows on directly, else from its row. */
  private async load(
    streams: ReadonlyMap<string, Recorded<DeploymentEvent>[]>,
    tx: PoolClient,
  ): Promise<Map<string, Fold>> {
    const folds = new Map<string, Fold>();
    const unknown: string[] = [];
    for (const [id, [first]] of streams) {
      const kept = this.folds.get(id);
      if (kept && first!.version === kept.version + 1) folds.set(id, kept);
      else unknown.push(id);
      if (first!.version === 1) folds.set(id, { state: deploymentModel.initial, version: 0 });
    }
    if (unknown.length === 0) return folds;
    const { rows } = await tx.query<{ id: string; document: string; unshown: string; version: number }>({
      name: 'load deployments',
      text: 'select id, document, unshown, version from deployment_documents where id = any($1::uuid[])',
      values: [unknown],
    });
    for (const { id, document, unshown, version } of rows) {
      const record = JSON.parse(document) as DeploymentRecord;
      const state = deploymentOf(record, JSON.parse(unshown) as ReturnType<typeof unshownPart>);
      folds.set(id, { state, version });
    }
    return folds;
  }

  private keep(changed: ReadonlyMap<string, Fold>): void {
    for (const [id, fold] of changed) this.folds.set(id, fold);
  }
}

function byDeployment(events: readonly Recorded<DeploymentEvent>[]): Map<string, Recorded<DeploymentEvent>[]> {
  const streams = new Map<string, Recorded<DeploymentEvent>[]>();
  for (const event of events) {
    const id = idOf(event.stream);
    const news = streams.get(id);
    if (news) news.push(event);
    else streams.set(id, [event]);
  }
  return streams;
}

/** The fold after the events that it does not hold yet; undefined for a deployment whose row has been removed. */
function apply(before: Fold | undefined, events: readonly Recorded<DeploymentEvent>[], revisions: RevisionView) {
  if (!before) return undefined;
  let { state, version } = before;
  for (const event of events) {
    if (event.version <= version) continue;
    if (event.version !== version + 1) {
      throw new Error(`${event.stream} is at version ${version} in the view, its next event is ${event.version}.`);
    }
    if (event.type === 'DeploymentCreated') {
      requireOwn(event, { id: event.data.deployment_id, tenant_id: event.data.tenant_id });
    }
    state = deploymentModel.evolve(state, event);
    version = event.version;
    revisions.add(event);
  }
  if (version === before.version) return before;
  // Nothing that is rendered depends on the waiting revisions, and there may be very many.
  return { state: state && { ...state, queued: [] }, version };
}

const UPSERT_INDEXED = `
  insert into deployments
    (id, tenant_id, created_at, name, status, deployment_type, listener_id, image_version, tag_value_ids,
     agent_id, agent_environment)
  select id, tenant_id, created_at, name, status, deployment_type, listener_id, image_version, tag_value_ids::uuid[],
    agent_id, agent_environment
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[],
      $10::text[], $11::text[])
    as fresh (id, tenant_id, created_at, name, status, deployment_type, listener_id, image_version, tag_value_ids,
      agent_id, agent_environment)
  on conflict (id) do update set
    status = excluded.status, image_version = excluded.image_version, tag_value_ids = excluded.tag_value_ids
  where (deployments.status, deployments.image_version, deployments.tag_value_ids)
    is distinct from (excluded.status, excluded.image_version, excluded.tag_value_ids)`;

// JSON text holds no line break, and lines need no escaping: three times faster than arrays of text.
const UPSERT_RENDERED = `
  insert into deployment_documents (id, tenant_id, version, edition, document, unshown)
  select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], string_to_array($5, e'\\n'), string_to_array($6, e'\\n'))
  on conflict (id) do update set
    version = excluded.version, edition = excluded.edition, document = excluded.document, unshown = excluded.unshown`;

type Row = readonly [string, Fold & { state: Deployment }];

/** Members that deployments are found and ordered by, as one string: most changes leave it as it is. */
function listedBy(state: DeploymentState): string {
  if (!state) return '';
  const { status, source_config, source_revision_config, tag_value_ids } = state;
  const { deployment_type, listener_id } = source_config;
  return JSON.stringify([status, deployment_type, listener_id, source_revision_config.image_uri, tag_value_ids]);
}

async function list(tx: PoolClient, rows: readonly Row[]): Promise<void> {
  const states = rows.map(([, { state }]) => state);
  await tx.query({
    name: 'upsert deployments',
    text: UPSERT_INDEXED,
    values: [
      rows.map(([id]) => id),
      states.map((state) => state.tenant_id),
      states.map((state) => state.created_at),
      states.map((state) => state.name),
      states.map((state) => state.status),
      states.map((state) => state.source_config.deployment_type ?? null),
      states.map((state) => state.source_config.listener_id ?? null),
      states.map((state) => imageVersion(state.source_revision_config.image_uri)),
      states.map((state) => `{${state.tag_value_ids.join(',')}}`),
      states.map((state) => state.agent?.agent_id ?? null),
      states.map((state) => state.agent?.environment ?? null),
    ],
  });
}

async function render(tx: PoolClient, rows: readonly Row[]): Promise<void> {
  await tx.query({
    name: 'upsert documents',
    text: UPSERT_RENDERED,
    values: [
      rows.map(([id]) => id),
      rows.map(([, { state }]) => state.tenant_id),
      rows.map(([, { version }]) => version),
      rows.map(([, { state }]) => state.edition),
      rows.map(([, { state }]) => JSON.stringify(deploymentRecord(state))).join('\n'),
      rows.map(([, { state }]) => JSON.stringify(unshownPart(state))).join('\n'),
    ],
  });
}

async function remove(tx: PoolClient, ids: readonly string[]): Promise<void> {
  await tx.query('delete from deployments where id = any($1::uuid[])', [ids]);
  await tx.query('delete from deployment_documents where id = any($1::uuid[])', [ids]);
  await tx.query('delete from revisions where deployment_id = any($1::uuid[])', [ids]);
}
