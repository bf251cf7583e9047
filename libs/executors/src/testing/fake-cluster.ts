import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';

interface Applied {
  readonly kind: string;
  readonly metadata: { name: string; generation?: number; [member: string]: unknown };
  readonly spec?: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: { metadata?: { annotations?: object } };
    [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** The status of a pod of the revision that was applied last. */
interface FakePod {
  readonly name: string;
  readonly [member: string]: unknown;
}

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly type: string | undefined;
  readonly agent: string | undefined;
  readonly body: unknown;
}

/** Namespace, kind and name in the path of an object; of a list without a name, of a namespace alone. */
/** Service and path of a request that is to be passed on to the program behind it. */
const PROXIED = /\/namespaces\/[^/]+\/services\/([^/:]+):http\/proxy(\/.*)$/;
const PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+\/namespaces\/([^/]+)(?:\/([a-z]+)(?:\/([^/]+))?)?$/;
/** Interval at which an open watch reports every object that it is for (ms). */
const TELL_MS = 20;

/** The members by which Kubernetes tells the items of these lists apart; server-side apply takes no two that are alike. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ports: ['containerPort', 'protocol'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
};

/** Speaks as much of the Kubernetes API as applying, watching and deleting needs. */
export class FakeCluster {
  /** Objects by path, as the server keeps them: `replicas` of a Deployment is 1 when nobody owns it. */
  readonly objects = new Map<string, Applied>();
  readonly requests: SeenRequest[] = [];
  /** Names of the namespaces that exist. */
  readonly namespaces = new Set(['agents']);
  /** Status of deployments by name; ready at the second look when absent. */
  status: ((name: string) => object) | undefined;
  /** Why the cluster creates no pods, as a quota or Pod Security says it; it creates them when absent. */
  podsRefused: string | undefined;
  pods: FakePod[] = [];
  /** The number of former ReplicaSets that a Deployment keeps. */
  history = 10;
  /** Events of pods. */
  events: object[] = [];
  /** Answers every request with this status instead. */
  failing: number | undefined;
  /** Answers a request with this instead, `null`: never; `undefined` lets it pass. */
  instead: ((request: SeenRequest) => [status: number, answer: object] | null | undefined) | undefined;
  /** Answers in place of the program behind a Service. */
  program: (
    service: string,
    path: string,
    request: IncomingMessage,
  ) => [status: number, headers: object, text: string] = () => [404, {}, ''];
  /** Value of the header `Warning` of every answer. */
  warning: string | undefined;
  private readonly looks = new Map<string, number>();
  /** Paths of the Deployments whose `replicas` somebody other than the applier has set. */
  private readonly scaled = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeCluster> {
    const server = createServer();
    const cluster = new FakeCluster(server);
    server.on('request', (request: IncomingMessage, response) => {
      if (PROXIED.test(request.url ?? '')) cluster.proxy(request, response);
      else void body(request).then((text) => cluster.serve(request, response, text));
    });
    server.on('upgrade', ({ url }: IncomingMessage, socket) => {
      const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket', `X-Path: ${url}`];
      socket.end([...head, '', ''].join('\r\n'));
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

  /** Sets the number of replicas as an autoscaler does: it owns them from now on. */
  scale(name: string, replicas: number): void {
    const [path, object] = [...this.objects].find(
      ([, each]) => each.kind === 'Deployment' && each.metadata.name === name,
    )!;
    this.objects.set(path, { ...object, spec: { ...object.spec, replicas } });
    this.scaled.add(path);
  }

  private serve({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse, text: string): void {
    const sent = text === '' ? undefined : (JSON.parse(text) as unknown);
    const request = { method, url, type: headers['content-type'], agent: headers['user-agent'], body: sent };
    this.requests.push(request);
    const other = this.instead?.(request);
    if (other === null) return;
    const { pathname: path, searchParams } = new URL(url, 'http://cluster');
    if (!other && !this.failing && searchParams.has('watch')) return this.tell(path, searchParams, response);
    const [status, answer] = other ?? this.answer(request, path, searchParams);
    const warned = this.warning !== undefined && { warning: this.warning };
    response.writeHead(status, { 'content-type': 'application/json', ...warned }).end(JSON.stringify(answer));
  }

  /** As the real server, which adds headers of its own and puts its path in front of redirects. */
  private proxy(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    const [, service = '', path = ''] = PROXIED.exec(url) ?? [];
    if (this.failing || !this.find('Service', service)) {
      const status = this.failing ?? 404;
      response.writeHead(status).end(JSON.stringify(refused(status, `services "${service}" not found`)));
      return;
    }
    const [status, headers, text] = this.program(service, path, request);
    const { location } = headers as { readonly location?: string };
    const moved = location?.startsWith('/') && { location: `${url.slice(0, -path.length)}${location}` };
    response.writeHead(status, { ...headers, ...moved, 'audit-id': randomUUID() }).end(text);
  }

  private answer({ method, body }: SeenRequest, path: string, query: URLSearchParams): [number, object] {
    if (this.failing) return [this.failing, refused(this.failing, 'the cluster is unwell')];
    if (path === '/version') return [200, { major: '1', minor: '36' }];
    const [, namespace = '', kind, name] = PATH.exec(path) ?? [];
    // As on the real server, a list of a namespace that does not exist is empty.
    const isList = method === 'GET' && kind !== undefined && name === undefined;
    if (!isList && !this.namespaces.has(namespace)) return [404, refused(404, `namespaces "${namespace}" not found`)];
    if (!kind) return [200, { kind: 'Namespace', metadata: { name: namespace } }];
    const twice = method === 'PATCH' && duplicate(body);
    // The real server gives no reason here, and calls it a failure of its own.
    if (twice) return [500, refused(500, `failed to create typed patch object (${path}): ${twice}`)];
    if (method === 'PATCH' && this.isFixed(path, body as Applied)) {
      return [422, refused(422, 'data: Forbidden: field is immutable when `immutable` is set')];
    }
    if (method === 'PATCH' && query.get('dryRun') === 'All') return [200, this.merged(path, body as Applied)];
    if (method === 'PATCH') return [200, this.apply(path, body as Applied, query.get('fieldManager'))];
    if (!name) return [200, { kind: 'List', metadata: { resourceVersion: '1' }, items: this.listed(path, query) }];
    const object = this.objects.get(path);
    if (!object) return [404, refused(404, `${path} not found`)];
    if (method === 'DELETE' && object.metadata.finalizers) return [200, object];
    if (method === 'DELETE') {
      this.drop(path, object);
      return [200, { kind: 'Status', status: 'Success' }];
    }
    return [200, { ...object, status: this.statusOf(path, object) }];
  }

  /** Objects of a kind in a namespace that have the labels of the selector; pods, of the first such Deployment. */
  private listed(path: string, query: URLSearchParams): object[] {
    if (path.endsWith('/events')) return this.events;
    const wanted = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '');
    const found = [...this.objects].filter(([at, { metadata }]) => {
      const labels = (metadata.labels ?? {}) as Record<string, string>;
      const kind = path.replace(/\/api\/v1(.*)\/pods$/, '/apis/apps/v1$1/deployments');
      return at.startsWith(`${kind}/`) && wanted.every((one) => labels[one.split('=')[0]!] === one.split('=')[1]);
    });
    if (path.endsWith('/pods')) return found.slice(0, 1).flatMap(([, deployment]) => this.podsOf(deployment));
    return found.map(([at, object]) => ({ ...object, status: this.statusOf(at, object) }));
  }

  private podsOf({ spec }: Applied): object[] {
    const metadata = { annotations: spec?.template?.metadata?.annotations, labels: spec?.selector?.matchLabels };
    return this.pods.map(({ name, ...status }) => ({ metadata: { ...metadata, name }, status }));
  }

  /** A watch: tells of all objects over and over, until the client leaves. */
  private tell(path: string, query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const timer = setInterval(() => {
      for (const object of this.listed(path, query)) {
        response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      }
    }, TELL_MS);
    response.once('close', () => clearInterval(timer));
  }

  private apply(path: string, object: Applied, manager: string | null): Applied {
    if (this.objects.has(path) && manager !== 'fairlead') {
      this.scale(object.metadata.name, object.spec?.replicas ?? 1);
      return this.objects.get(path)!;
    }
    const kept = this.merged(path, object);
    if (object.spec?.replicas !== undefined) this.scaled.delete(path);
    if (object.kind === 'Deployment') this.keepReplicaSet(path, kept);
    this.objects.set(path, kept);
    this.looks.delete(path);
    return kept;
  }

  /**
   * True when other data is sent for an immutable object. The server keeps no empty object, and takes one for a change.
   */
  private isFixed(path: string, { data }: Applied): boolean {
    const before = this.objects.get(path);
    const kept = Object.keys(before?.data ?? {}).length > 0 ? before?.data : undefined;
    return before?.immutable === true && !isDeepStrictEqual(kept, data);
  }

  /** The object that results when another one is applied to it. */
  private merged(path: string, object: Applied): Applied {
    const before = this.objects.get(path);
    const generation = (before?.metadata.generation ?? 0) + 1;
    const uid = before?.metadata.uid ?? randomUUID();
    const kept = { ...object, metadata: { ...object.metadata, generation, uid } };
    if (object.kind !== 'Deployment') return kept;
    const unowned = this.scaled.has(path) ? before?.spec?.replicas : 1;
    return { ...kept, spec: { ...object.spec, replicas: object.spec?.replicas ?? unowned } };
  }

  /** A ReplicaSet for each template that a Deployment has had, as long as its history. */
  private keepReplicaSet(path: string, { metadata, spec }: Applied): void {
    const template = JSON.stringify(spec?.template);
    const sets = [...this.objects].filter(([at]) =>
      at.startsWith(`${path.replace('/deployments/', '/replicasets/')}-`),
    );
    const known = sets.find(([, set]) => JSON.stringify(set.spec?.template) === template);
    for (const [at] of sets.slice(0, known ? 0 : Math.max(0, sets.length - this.history))) this.objects.delete(at);
    if (known) return;
    const name = `${metadata.name}-${randomUUID().slice(0, 8)}`;
    const { labels, uid } = metadata;
    const set = { kind: 'ReplicaSet', metadata: { name, labels, ownerReferences: [{ uid }] } };
    this.objects.set(path.replace(/deployments\/.*/, `replicasets/${name}`), {
      ...set,
      spec: { template: spec?.template },
    });
  }

  /** Deletes an object and what belongs to it. */
  private drop(path: string, { metadata: { uid } }: Applied): void {
    this.objects.delete(path);
    this.scaled.delete(path);
    for (const [at, object] of this.objects) {
      const owners = (object.metadata.ownerReferences ?? []) as { uid: string }[];
      if (owners.some((owner) => owner.uid === uid) && !object.metadata.finalizers) this.drop(at, object);
    }
  }

  private statusOf(path: string, { metadata: { name, generation }, spec }: Applied): object {
    if (this.status) return { observedGeneration: generation, ...this.status(name) };
    if (this.podsRefused !== undefined) {
      const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: this.podsRefused };
      const progressing = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated' };
      const unavailableReplicas = spec?.replicas;
      return { observedGeneration: generation, unavailableReplicas, conditions: [progressing, failure] };
    }
    const looks = (this.looks.get(path) ?? 0) + 1;
    this.looks.set(path, looks);
    const replicas = spec?.replicas ?? 1;
    if (looks === 1) return { observedGeneration: (generation ?? 1) - 1, replicas };
    const ready = { readyReplicas: replicas, availableReplicas: replicas };
    return { observedGeneration: generation, replicas, updatedReplicas: replicas, ...ready };
  }
}

function refused(code: number, message: string): object {
  return { kind: 'Status', status: 'Failure', code, message };
}

/** Message of the server about the first list with two items of one key, as `.spec.containers[0].env: …`. */
function duplicate(value: unknown, path = ''): string | undefined {
  for (const [member, inner] of Object.entries((value ?? {}) as Record<string, unknown>)) {
    if (typeof inner !== 'object' || inner === null) continue;
    const here = Array.isArray(value) ? `${path}[${member}]` : `${path}.${member}`;
    const seen = new Set<string>();
    for (const item of Array.isArray(inner) ? (inner as Record<string, unknown>[]) : []) {
      const names = KEYS[member] ?? [];
      if (item[names[0] ?? ''] === undefined) continue;
      const key = names.map((name) => `${name}=${JSON.stringify(item[name])}`).join(',');
      if (seen.has(key)) return `${here}: duplicate entries for key [${key}]`;
      seen.add(key);
    }
    const found = duplicate(inner, here);
    if (found) return found;
  }
  return undefined;
}

async function body(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
