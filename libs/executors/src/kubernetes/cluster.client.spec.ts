import { FakeCluster } from '../testing/fake-cluster';
import { ClusterClient, ClusterRefused } from './cluster.client';
import { ExecutorUnreachable, StepFailed } from '../port/executor';

let cluster: FakeCluster;
let client: ClusterClient;
beforeEach(async () => {
  cluster = await FakeCluster.start();
  client = new ClusterClient({ config: cluster.config(), patience: 30_000 });
});
afterEach(() => cluster.stop());

const call = { signal: new AbortController().signal };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'agents' } };
const refused = (message: string, reason?: string) => ({ kind: 'Status', status: 'Failure', message, reason });

describe('a client of a cluster', () => {
  it('sends objects as they are, as fairlead', async () => {
    const object = { ...pod, spec: { containers: [{ securityContext: { capabilities: { drop: 'ALL' } } }] } };
    await client.apply(object, call);
    expect(cluster.requests).toEqual([
      {
        method: 'PATCH',
        url: '/api/v1/namespaces/agents/pods/a?fieldManager=fairlead&force=true',
        type: 'application/apply-patch+yaml',
        agent: 'fairlead',
        body: object,
      },
    ]);
  });

  it.each([
    ['apiextensions.k8s.io/v1', 'NetworkPolicy', '/apis/apiextensions.k8s.io/v1/namespaces/agents/networkpolicies/a'],
    ['networking.k8s.io/v1', 'Ingress', '/apis/networking.k8s.io/v1/namespaces/agents/ingresses/a'],
    ['v1', 'Secret', '/api/v1/namespaces/agents/secrets/a'],
  ])('finds the path of %s %s', async (apiVersion, kind, path) => {
    await client.read({ apiVersion, kind, metadata: pod.metadata }, call);
    expect(cluster.requests.map(({ url }) => url)).toEqual([path]);
  });

  it('tells what is not there', async () => {
    expect(await client.read(pod, call)).toBeUndefined();
    expect(await client.remove(pod, call)).toBe(false);
    await client.apply(pod, call);
    expect(await client.remove(pod, call)).toBe(true);
  });

  it.each([{}, { items: null }])('takes %j for a list of nothing', async (answer) => {
    cluster.instead = () => [200, answer];
    const query = { apiVersion: 'v1', kind: 'Pod', namespace: 'agents' };
    expect(await client.list(query, call)).toEqual({ items: [], version: '' });
  });

  it('says what a dry run would say, and changes nothing', async () => {
    expect(await client.apply(pod, call, true)).toMatchObject(pod);
    expect(cluster.requests.map(({ url }) => url)).toEqual([expect.stringMatching(/&dryRun=All$/)]);
    expect(await client.read(pod, call)).toBeUndefined();
  });

  it.each([
    [422, refused('spec is wrong', 'Invalid'), 'The cluster refuses (422): spec is wrong'],
    [500, refused('duplicate entries for key [name="A"]'), 'The cluster refuses (500): duplicate entries'],
    [404, { html: true }, 'The cluster refuses (404): {"html":true}'],
  ])('is refused with %d and the sentence of the cluster', async (status, answer, sentence) => {
    cluster.instead = () => [status, answer];
    const applied = client.apply(pod, call);
    await expect(applied).rejects.toThrow(sentence);
    await expect(applied).rejects.toBeInstanceOf(ClusterRefused);
  });

  it.each([
    [500, refused('a webhook failed', 'InternalError'), 'The cluster does not answer (500: a webhook failed).'],
    [503, {}, 'The cluster does not answer (503).'],
    [429, refused('slow down', 'TooManyRequests'), 'The cluster does not answer (429: slow down).'],
  ])('comes again after %d', async (status, answer, sentence) => {
    cluster.instead = () => [status, answer];
    await expect(client.apply(pod, call)).rejects.toThrow(new ExecutorUnreachable(sentence));
  });

  it.each([401, 403, 409])('sends a request again that is answered %d, until its patience ends', async (status) => {
    let left = 2;
    cluster.instead = () => (left-- > 0 ? [status, refused('not yet')] : undefined);
    await client.apply(pod, call);
    expect(cluster.requests).toHaveLength(3);
    cluster.instead = () => [status, refused('never')];
    const impatient = new ClusterClient({ config: cluster.config(), patience: 100 });
    await expect(impatient.apply(pod, call)).rejects.toThrow(`The cluster refuses (${status}): never`);
    const before = cluster.requests.length;
    await expect(client.apply(pod, call, true)).rejects.toThrow('never');
    expect(cluster.requests).toHaveLength(before + 1);
  });

  it('gives up a request that is never answered', async () => {
    cluster.instead = () => null;
    const hasty = new ClusterClient({ config: cluster.config(), deadline: 300 });
    await expect(hasty.apply(pod, call)).rejects.toThrow('The cluster does not answer within 0.3 s.');
  });

  it('ends a request when its caller does', async () => {
    cluster.instead = () => null;
    const caller = new AbortController();
    const read = client.read(pod, { signal: caller.signal });
    caller.abort(new Error('interrupted'));
    await expect(read).rejects.toThrow('interrupted');
  });

  it('refuses what cannot be sent, and says that nobody listens', async () => {
    const endless: Record<string, unknown> = { ...pod };
    endless.spec = endless;
    await expect(client.apply(endless, call)).rejects.toBeInstanceOf(StepFailed);
    const config = cluster.config();
    await cluster.stop();
    const nobody = new ClusterClient({ config });
    await expect(nobody.ping(call)).rejects.toThrow('The cluster does not answer (ECONNREFUSED).');
    cluster = await FakeCluster.start();
  });

  it('passes on every warning', async () => {
    const heard: string[] = [];
    cluster.warning = '299 - "would violate \\"restricted\\"", 299 - "a second, with a comma"';
    await client.apply(pod, { ...call, warn: async (text) => void heard.push(text) });
    expect(heard).toEqual(['would violate "restricted"', 'a second, with a comma']);
  });
});
