import { AGENT, DEPLOYMENT } from './mark';
import { ROLL_BACK, type Version, VERSIONS } from './program';
import { NotMade, type Service } from './service';
import { tarball } from './tarball';

const ALL = '/v2/deployments';
/** Executors with which deploying costs nothing and reaches nobody else. */
const HARMLESS = ['local', 'record'];
/** Seconds that one request waits for a rollout. */
const WAIT_S = 25;
/** Most of these requests for one rollout. */
const MOST_WAITS = 8;
const POLL_MS = 500;
/** Looks at a deployment that is being deleted. */
const MOST_LOOKS = 120;

interface Deployment {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly latest_revision_id: string | null;
}

interface Page<T> {
  readonly resources: readonly T[];
}

interface Deployed {
  readonly deployment?: string;
  readonly notDeployed?: string;
}

/** Deploys the versions of the program one after the other, and rolls back, as far as that has not been done. */
export async function deploy(service: Service, onStep: (doing: string) => void): Promise<Deployed> {
  const found = await withoutDeleted(service);
  const deployment = found.find(({ name }) => name === DEPLOYMENT) ?? (await create(service));
  const { id } = deployment;
  const { next_executor: executor } = await service.get<{ next_executor: string }>(`${ALL}/${id}/health`);
  if (!HARMLESS.includes(executor)) {
    await service.send('DELETE', `${ALL}/${id}`);
    return { notDeployed: `This installation deploys with ${executor}: the demo deploys nothing there.` };
  }
  const { resources } = await service.get<Page<{ id: string }>>(`${ALL}/${id}/revisions`, { limit: 100 });
  // The newest comes first.
  const revisions = resources.map((one) => one.id).reverse();
  for (const [index, version] of VERSIONS.entries()) {
    if (index >= revisions.length) revisions.push(await release(service, id, version));
    await settled(service, id, revisions[index]!);
    onStep(`Deployed version ${index + 1}`);
  }
  if (revisions.length === VERSIONS.length) {
    const path = `${ALL}/${id}/revisions/${revisions[ROLL_BACK.to]!}/redeploy`;
    const sent = { body: {}, reason: ROLL_BACK.reason };
    const { latest_revision_id } = await service.send<Deployment>('POST', path, sent);
    await settled(service, id, latest_revision_id!);
  }
  onStep('Rolled back');
  return { deployment: id };
}

/** Deployments that carry the mark. */
async function demoDeployments(service: Service): Promise<readonly Deployment[]> {
  const query = { agent_id: AGENT.agent_id, limit: 100 };
  return (await service.get<Page<Deployment>>(ALL, query)).resources;
}

/** The same, once those that are being deleted are gone. @throws NotMade when that takes too long */
export async function withoutDeleted(service: Service): Promise<readonly Deployment[]> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const found = await demoDeployments(service);
    if (found.every(({ status }) => status !== 'AWAITING_DELETE')) return found;
    await service.pause(POLL_MS);
  }
  throw new NotMade(`The deployment “${DEPLOYMENT}” is still being deleted.`);
}

async function create(service: Service): Promise<Deployment> {
  const { resources } = await service.get<Page<Deployment>>(ALL, { name: DEPLOYMENT });
  if (resources.length > 0) {
    throw new NotMade(`There is a deployment named “${DEPLOYMENT}” that is not the demo's: delete it first.`);
  }
  const source = { source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  const reason = 'The demo shows how a deployment changes.';
  return service.send('POST', ALL, { body: { name: DEPLOYMENT, ...source, agent: AGENT }, reason });
}

/** Uploads a version, and makes a revision of it. Returns the revision's id. */
async function release(service: Service, id: string, { files, reason }: Version): Promise<string> {
  const path = `${ALL}/${id}`;
  const place = await service.send<{ upload_url: string; object_path: string }>('POST', `${path}/upload-url`, {
    body: {},
  });
  // The service is reached where everything else of it is.
  const { pathname, search } = new URL(place.upload_url);
  await service.upload(pathname + search, await tarball(files));
  const source_revision_config = { source_tarball_path: place.object_path };
  const body = { revision_source: 'internal_source', source_revision_config };
  return (await service.send<Deployment>('PATCH', path, { body, reason })).latest_revision_id!;
}

/**
 * Resolves when a rollout has ended, however it did: a program that does not start is worth looking at too.
 * @throws NotMade when that takes too long
 */
async function settled(service: Service, id: string, revision: string): Promise<void> {
  for (let rounds = 0; rounds < MOST_WAITS; rounds++) {
    const path = `${ALL}/${id}/revisions/${revision}/wait`;
    const { status } = await service.get<{ status: string }>(path, { timeout: WAIT_S });
    if (/^DEPLOYED$|FAILED|INTERRUPTED|SKIPPED/.test(status)) return;
  }
  throw new NotMade(`The rollout of “${DEPLOYMENT}” has not ended yet. Running it again waits for it.`);
}
