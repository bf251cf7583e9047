import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { KubeConfig, KubernetesObject, V1Pod } from '@kubernetes/client-node';
import { until } from '@fairlead/postgres/testing';
import { v7 as uuid } from 'uuid';

/** The control plane that `npm run test:kubernetes` has started. */
interface ControlPlane {
  /** The program with which Kustomize directories are rendered. */
  readonly program: string;
  readonly kubeconfig: string;
  /** Address where the behaviour of images is set. */
  readonly images: string;
  /** File with the audit log of the API server. */
  readonly audit: string;
}

/** Behaviour of the containers of an image: see tools/kubernetes/images.go. */
type Behaviour = 'ready' | 'unready' | 'crash' | 'oom' | 'missing' | 'creating' | 'root' | 'undying' | 'here';

type Json = ReturnType<typeof JSON.parse>;

/**
 * A new namespace in the real control plane of `npm run test:kubernetes`, for one test or one spec file. A path such as
 * `apps/v1/deployments/agent` or `v1/secrets` leads into this namespace; objects are plain JSON, as the server has them.
 */
export class TestNamespace {
  private constructor(
    readonly name: string,
    private readonly plane: ControlPlane,
    private readonly agent: Agent,
  ) {}

  /** Resolves when pods can be created in it. */
  static async create(labels: Readonly<Record<string, string>> = {}): Promise<TestNamespace> {
    const plane = controlPlane();
    const config = await kubeConfig(plane);
    const ca = Buffer.from(config.getCurrentCluster()!.caData!, 'base64');
    const namespace = new TestNamespace(`test-${uuid()}`, plane, new Agent({ ca, keepAlive: true }));
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace.name, labels } };
    await namespace.send('POST', '/api/v1/namespaces', object);
    await until(() => namespace.get('v1/serviceaccounts/default'));
    return namespace;
  }

  /** Deletes the namespace, without waiting for the end of that. */
  async drop(): Promise<void> {
    await this.send('DELETE', `/api/v1/namespaces/${this.name}`);
    this.agent.destroy();
  }

  /** Configuration of a client of the control plane: its administrator, or a service account of this namespace. */
  async config(account?: string): Promise<KubeConfig> {
    const config = await kubeConfig(this.plane);
    if (account === undefined) return config;
    const path = this.pathOf(`v1/serviceaccounts/${account}/token`);
    const { status } = await this.send('POST', path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' });
    const { KubeConfig: Config } = await import('@kubernetes/client-node');
    const limited = new Config();
    limited.loadFromClusterAndUser(config.getCurrentCluster()!, { name: account, token: status.token });
    return limited;
  }

  /** Decides what containers of an image do from now on, those that exist included. */
  async behave(image: string, behaviour: Behaviour): Promise<void> {
    const answer = await fetch(`${this.plane.images}/?image=${encodeURIComponent(image)}`, {
      method: 'PUT',
      body: behaviour,
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** An object, or undefined. */
  async get(path: string): Promise<Json> {
    return this.send('GET', this.pathOf(path));
  }

  async list(path: string): Promise<Json[]> {
    return (await this.send('GET', this.pathOf(path))).items as Json[];
  }

  async create(path: string, object: object): Promise<Json> {
    return this.send('POST', this.pathOf(path), object);
  }

  async delete(path: string): Promise<void> {
    await this.send('DELETE', this.pathOf(path));
  }

  /** Changes some members of an object, as `kubectl patch --type merge` does. */
  async patch(path: string, members: object): Promise<Json> {
    return this.send('PATCH', this.pathOf(path), members, 'application/merge-patch+json');
  }

  /** Applies an object in this namespace on the server side, whatever namespace it names. */
  async apply(object: KubernetesObject): Promise<Json> {
    const { apiVersion, kind, metadata } = object;
    const plural = kind!.toLowerCase().replace(/y$/, 'ie').replace(/s$/, 'se') + 's';
    const path = `${this.pathOf(`${apiVersion}/${plural}/${metadata!.name}`)}?fieldManager=test&force=true`;
    const here = { ...object, metadata: { ...metadata, namespace: this.name } };
    return this.send('PATCH', path, here, 'application/apply-patch+yaml');
  }

  async pods(): Promise<V1Pod[]> {
    return (await this.list('v1/pods')) as V1Pod[];
  }

  /** Requests of a service account to the API server so far: `core services/proxy get 200`, each once, sorted. */
  asked(account: string): string[] {
    const lines = readFileSync(this.plane.audit, 'utf8').split('\n').filter(Boolean);
    const events = lines.map((line): Json => JSON.parse(line));
    const own = events.filter(({ user }) => user.username === `system:serviceaccount:${this.name}:${account}`);
    const asked = own.flatMap(({ verb, objectRef, responseStatus }) => {
      if (!objectRef) return [];
      const { apiGroup = 'core', resource, subresource } = objectRef;
      const what = subresource === undefined ? resource : `${resource}/${subresource}`;
      return [`${apiGroup} ${what} ${verb} ${responseStatus.code}`];
    });
    return [...new Set(asked)].sort();
  }

  private pathOf(path: string): string {
    const parts = path.split('/');
    const version = path.startsWith('v1/') ? ['api', parts.shift()] : ['apis', parts.shift(), parts.shift()];
    return `/${[...version, 'namespaces', this.name, ...parts].join('/')}`;
  }

  /** The answer, or undefined where there is nothing. @throws Error with the server's sentence */
  private async send(method: string, path: string, body?: object, type = 'application/json'): Promise<Json> {
    const config = await kubeConfig(this.plane);
    const url = new URL(path, config.getCurrentCluster()!.server);
    const headers = { authorization: `Bearer ${config.getCurrentUser()!.token}`, 'content-type': type };
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(url, { method, headers, agent: this.agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
    if (status === 404 && method === 'GET') return undefined;
    const json: Json = JSON.parse(text);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${json.message}`);
    return json;
  }
}

/** The objects of a Kustomize directory. */
export async function rendered(directory: string): Promise<KubernetesObject[]> {
  const { loadAllYaml } = await import('@kubernetes/client-node');
  const text = execFileSync(controlPlane().program, ['render', directory], { encoding: 'utf8' });
  return loadAllYaml(text) as KubernetesObject[];
}

function controlPlane(): ControlPlane {
  return JSON.parse(process.env.FAIRLEAD_KUBERNETES ?? '') as ControlPlane;
}

async function kubeConfig({ kubeconfig }: ControlPlane): Promise<KubeConfig> {
  // Specs that need nothing of it would load it too.
  const { KubeConfig: Config } = await import('@kubernetes/client-node');
  const config = new Config();
  config.loadFromFile(kubeconfig);
  return config;
}
