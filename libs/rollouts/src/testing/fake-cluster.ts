import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

interface Applied {
  readonly kind: string;
  readonly metadata: { name: string; generation?: number; [member: string]: unknown };
  readonly spec?: { replicas?: number; [member: string]: unknown };
  readonly [member: string]: unknown;
}

const resource = (name: string, kind: string, namespaced = true) => ({ name, kind, namespaced, verbs: ['*'] });
const DISCOVERY: Readonly<Record<string, object[]>> = {
  '/api/v1': [
    resource('namespaces', 'Namespace', false),
    resource('secrets', 'Secret'),
    resource('services', 'Service'),
    resource('pods', 'Pod'),
  ],
  '/apis/apps/v1': [resource('deployments', 'Deployment')],
  '/apis/autoscaling/v2': [resource('horizontalpodautoscalers', 'HorizontalPodAutoscaler')],
};

/** Speaks as much of the Kubernetes API as applying, watching and deleting needs. */
export class FakeCluster {
  /** Applied objects by path. */
  readonly objects = new Map<string, Applied>();
  readonly requests: { method: string; url: string; type: string | undefined }[] = [];
  /** Status of deployments by name; ready at the second look when absent. */
  status: ((name: string) => object) | undefined;
  pods: object[] = [];
  /** Answers every request with this status instead. */
  failing: number | undefined;
  private readonly looks = new Map<string, number>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeCluster> {
    const server = createServer();
    const cluster = new FakeCluster(server);
    server.on('request', (request: IncomingMessage, response) => {
      void body(request).then((text) => {
        const [status, answer] = cluster.answer(request, text);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return cluster;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  config(): KubeConfig {
    const config = new KubeConfig();
    const { port } = this.server.address() as AddressInfo;
    config.loadFromClusterAndUser(
      { name: 'fake', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
      { name: 'fake', token: 'token' },
    );
    return config;
  }

  /** The object of a kind and name. */
  find(kind: string, name: string): Applied | undefined {
    return [...this.objects.values()].find((object) => object.kind === kind && object.metadata.name === name);
  }

  private answer({ method = '', url = '', headers }: IncomingMessage, text: string): [number, object] {
    const [path = ''] = url.split('?');
    this.requests.push({ method, url, type: headers['content-type'] });
    if (this.failing) return [this.failing, refused(this.failing, 'the cluster is unwell')];
    const resources = DISCOVERY[path];
    if (resources) return [200, { kind: 'APIResourceList', groupVersion: path.slice(5), resources }];
    if (method === 'PATCH') return [200, this.apply(path, JSON.parse(text) as Applied)];
    if (path === '/api/v1/namespaces/agents') return [200, { kind: 'Namespace', metadata: { name: 'agents' } }];
    if (path.endsWith('/pods')) return [200, { kind: 'PodList', items: this.pods }];
    const object = this.objects.get(path);
    if (!object) return [404, refused(404, `${path} not found`)];
    if (method === 'DELETE') {
      this.objects.delete(path);
      return [200, { kind: 'Status', status: 'Success' }];
    }
    return [200, { ...object, status: this.statusOf(path, object) }];
  }

  private apply(path: string, object: Applied): Applied {
    const generation = (this.objects.get(path)?.metadata.generation ?? 0) + 1;
    const kept = { ...object, metadata: { ...object.metadata, generation } };
    this.objects.set(path, kept);
    this.looks.delete(path);
    return kept;
  }

  private statusOf(path: string, { metadata: { name, generation }, spec }: Applied): object {
    if (this.status) return { observedGeneration: generation, ...this.status(name) };
    const looks = (this.looks.get(path) ?? 0) + 1;
    this.looks.set(path, looks);
    const replicas = spec?.replicas ?? 1;
    if (looks === 1) return { observedGeneration: (generation ?? 1) - 1, replicas };
    return { observedGeneration: generation, replicas, updatedReplicas: replicas, availableReplicas: replicas };
  }
}

function refused(code: number, message: string): object {
  return { kind: 'Status', status: 'Failure', code, message };
}

async function body(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
