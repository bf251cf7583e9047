import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { once } from 'node:events';
import { request as overHttp, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as overHttps, type RequestOptions } from 'node:https';
import { connect as overTcp, isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as overTls, type ConnectionOptions } from 'node:tls';
import { TimeLimit } from '@fairlead/schema';
import type { Through } from '../local/forwarding/app-headers.client';
import { ExecutorUnreachable, StepFailed } from '../port/executor';

/** Name under which the cluster lists the fields that were applied from here. */
const FIELD_MANAGER = 'fairlead';
const USER_AGENT = 'fairlead';
const JSON_TYPE = 'application/json';
/** Content type of an object to apply; JSON is YAML too. */
const APPLY_TYPE = 'application/apply-patch+yaml';
/** Largest answer that is read (bytes). */
const MOST_BYTES = 32 * 1024 * 1024;
/** Longest text of a server in a sentence of ours. */
const MOST_TEXT = 2000;
/** Idle time after which the system asks whether the other end is still there (ms). */
const KEEP_ALIVE_MS = 30_000;
const NO_PROXY = 'Programs are not reached through a proxy in front of the cluster (proxy-url of the kubeconfig).';
/** Statuses that may be passing: a token is being renewed, rights are being granted, somebody else writes too. */
const PASSING = [401, 403, 409];

export interface ClusterSettings {
  /**
   * Configuration of the connection; found as kubectl finds it (KUBECONFIG, or the pod's service account) when absent.
   */
  readonly config?: KubeConfig;
  /** Milliseconds that the cluster has to answer a request. */
  readonly deadline?: number;
  /** Milliseconds for which a request that is answered 401, 403 or 409 is sent again. */
  readonly patience?: number;
}

/** Context of a request: it ends when `signal` aborts, and `warn` gets the warnings of the cluster. */
export interface Call {
  readonly signal: AbortSignal;
  readonly warn?: (text: string) => Promise<void>;
  /** `false`: a refusal that may pass is not waited for. */
  readonly patient?: boolean;
  /** Is told that a refusal that may pass is waited for. */
  readonly waits?: () => Promise<void>;
}

export interface Query {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string>>;
}

/** The cluster refuses a request for good; the message contains its sentence. */
export class ClusterRefused extends StepFailed {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(`The cluster refuses (${status}): ${sentence}`);
  }
}

/**
 * Speaks to the API of a Kubernetes cluster in plain objects, which are sent as they are. Every method throws
 * ExecutorUnreachable when the cluster does not answer, and StepFailed when it refuses.
 */
export class ClusterClient {
  private config: Promise<KubeConfig> | undefined;
  private readonly deadline: number;
  private readonly patience: number;

  constructor(private readonly settings: ClusterSettings = {}) {
    this.deadline = settings.deadline ?? 30_000;
    this.patience = settings.patience ?? 60_000;
  }

  async ping({ signal }: Call): Promise<void> {
    await this.once('GET', '/version', { signal });
  }

  async read<T extends KubernetesObject>(object: KubernetesObject, call: Call): Promise<T | undefined> {
    return unless404(this.ask('GET', pathOf(object), call)) as Promise<T | undefined>;
  }

  /** @throws StepFailed when there is no namespace of this name */
  async requireNamespace(name: string, call: Call): Promise<void> {
    if (await this.read({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, call)) return;
    throw new StepFailed(`The cluster has no namespace ${name}.`);
  }

  async list<T extends KubernetesObject>(query: Query, call: Call): Promise<{ items: T[]; version: string }> {
    const { items, metadata } = (await this.ask('GET', queryPath(query), call)) as {
      items?: T[] | null;
      metadata?: { resourceVersion?: string };
    };
    // Servers in Go write an empty list as null too.
    return { items: items ?? [], version: metadata?.resourceVersion ?? '' };
  }

  /** Creates an object or changes it to be so, with server-side apply. `dryRun`: the cluster only says what it would do. */
  async apply(
    object: KubernetesObject,
    call: Call,
    dryRun = false,
    manager = FIELD_MANAGER,
  ): Promise<KubernetesObject> {
    const dry = dryRun ? '&dryRun=All' : '';
    const path = `${pathOf(object)}?fieldManager=${manager}&force=true${dry}`;
    return dryRun ? this.once('PATCH', path, call, object) : this.ask('PATCH', path, call, object);
  }

  /** Deletes an object and, in the background, what belongs to it. Returns false when there is none. */
  async remove(object: KubernetesObject, call: Call): Promise<boolean> {
    return (await unless404(this.ask('DELETE', `${pathOf(object)}?propagationPolicy=Background`, call))) !== undefined;
  }

  /** Returns the changes of what a query finds since a version, one JSON text each, until the cluster ends the answer. */
  async *changes(query: Query, version: string, { signal }: Call, seconds: number): AsyncGenerator<string> {
    const path = queryPath(query, { watch: '1', resourceVersion: version, timeoutSeconds: String(seconds) });
    const limit = new TimeLimit(seconds * 1000 + this.deadline, signal);
    try {
      const answer = await this.open('GET', path, limit.signal);
      if (answer.statusCode !== 200) throw refusal(answer.statusCode ?? 0, await textOf(answer));
      let rest = '';
      for await (const text of answer.setEncoding('utf8')) {
        const lines = (rest + String(text)).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MOST_BYTES) throw new ClusterRefused(200, 'a change is too large.');
        yield* lines.filter((line) => line !== '');
      }
    } finally {
      limit.end();
    }
  }

  /**
   * Opens a connection for one request to a port of a Service, to which the API of the cluster passes it on: so a program
   * is reached from outside of the cluster too.
   */
  async connect(name: string, namespace: string, port: string, { signal }: Call): Promise<Through> {
    const limit = new TimeLimit(this.deadline, signal);
    try {
      const { url, options } = await this.server();
      if ((await this.connection()).getCurrentCluster()?.proxyUrl) throw new StepFailed(NO_PROXY);
      const { headers, ...rest } = options;
      const secure = rest as ConnectionOptions;
      const isPlain = url.protocol === 'http:';
      const at = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || (isPlain ? 80 : 443)) };
      const servername = secure.servername ?? (isIP(at.host) ? '' : at.host);
      const socket = isPlain ? overTcp(at) : overTls({ ...secure, ...at, servername });
      const opened = once(socket, isPlain ? 'connect' : 'secureConnect', { signal: limit.signal });
      await opened.catch((error: unknown) => {
        socket.destroy();
        throw error;
      });
      // Without it, a connection to a node that has vanished would stay open for as long as its client waits.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      const service = { kind: 'Service', metadata: { name, namespace } };
      const path = `${url.pathname.replace(/\/$/, '')}${pathOf(service)}:${port}/proxy`;
      return { socket, path, headers: { ...lowerCased(headers), host: url.host } };
    } catch (error) {
      throw this.failure(error, limit, signal);
    } finally {
      limit.end();
    }
  }

  /** Sends a request, and again for a while when it is refused for what may pass. */
  private async ask(method: string, path: string, call: Call, body?: object): Promise<object> {
    const until = Date.now() + (call.patient === false ? 0 : this.patience);
    for (let wait = Math.min(1000, this.patience / 10); ; wait = Math.min(wait * 2, 10_000)) {
      try {
        return await this.once(method, path, call, body);
      } catch (error) {
        const passing = error instanceof ClusterRefused && PASSING.includes(error.status);
        if (!passing || Date.now() + wait > until) throw error;
        await call.waits?.();
        await pause(wait, undefined, { signal: call.signal });
      }
    }
  }

  private async once(method: string, path: string, { signal, warn }: Call, body?: object): Promise<object> {
    signal.throwIfAborted();
    const limit = new TimeLimit(this.deadline, signal);
    try {
      const answer = await this.open(method, path, limit.signal, body);
      const text = await textOf(answer);
      for (const warning of warningsOf(answer)) await warn?.(warning);
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 299) throw refusal(status, text);
      return JSON.parse(text) as object;
    } catch (error) {
      throw this.failure(error, limit, signal);
    } finally {
      limit.end();
    }
  }

  private failure(error: unknown, limit: TimeLimit, signal: AbortSignal): Error {
    signal.throwIfAborted();
    if (!limit.hasPassed) return problemOf(error);
    return new ExecutorUnreachable(`The cluster does not answer within ${this.deadline / 1000} s.`);
  }

  /** Sends one request. Returns its answer, whose body is still to be read. */
  private async open(method: string, path: string, signal: AbortSignal, body?: object): Promise<IncomingMessage> {
    const text = body && JSON.stringify(body);
    const { url, options } = await this.server({
      accept: JSON_TYPE,
      'user-agent': USER_AGENT,
      ...(text !== undefined && { 'content-type': APPLY_TYPE, 'content-length': Buffer.byteLength(text) }),
    });
    const send = url.protocol === 'http:' ? overHttp : overHttps;
    return new Promise((resolve, reject) => {
      send(new URL(url.href.replace(/\/$/, '') + path), { ...options, method, signal }, resolve)
        .once('error', reject)
        .end(text);
    });
  }

  /** The address of the cluster, and the options of a request to it, with these headers. */
  private async server(headers: OutgoingHttpHeaders = {}): Promise<{ url: URL; options: RequestOptions }> {
    const config = await this.connection();
    const server = config.getCurrentCluster()?.server;
    if (server === undefined) throw new ExecutorUnreachable('No cluster is configured: set KUBECONFIG.');
    const options: RequestOptions = { headers };
    await config.applyToHTTPSOptions(options);
    return { url: new URL(server), options };
  }

  private connection(): Promise<KubeConfig> {
    this.config ??= this.found();
    this.config.catch(() => (this.config = undefined));
    return this.config;
  }

  private async found(): Promise<KubeConfig> {
    if (this.settings.config) return this.settings.config;
    const { KubeConfig: Config } = await import('@kubernetes/client-node');
    const config = new Config();
    config.loadFromDefault();
    return config;
  }
}

/** Path of an object, or without a name of all of its kind in its namespace. */
function pathOf({ apiVersion = 'v1', kind = '', metadata: { name, namespace } = {} }: KubernetesObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${group}${place}/${pluralOf(kind)}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** Name of a kind in paths, by the rule of Kubernetes. */
function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (name.endsWith('s')) return `${name}es`;
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`;
}

function queryPath({ apiVersion, kind, namespace, labels, fields }: Query, more: Record<string, string> = {}): string {
  const parameters = new URLSearchParams({
    ...(labels && { labelSelector: selectorOf(labels) }),
    ...(fields && { fieldSelector: selectorOf(fields) }),
    ...more,
  });
  return `${pathOf({ apiVersion, kind, metadata: { namespace } })}?${parameters.toString()}`;
}

function selectorOf(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** The headers that a user of the cluster has, which Node takes from its options in one spelling only. */
function lowerCased(headers: RequestOptions['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

async function unless404<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ClusterRefused && error.status === 404) return undefined;
    throw error;
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer.setEncoding('utf8')) {
    text += String(part);
    if (text.length > MOST_BYTES) throw new ClusterRefused(answer.statusCode ?? 0, 'its answer is too large.');
  }
  return text;
}

/** Texts of the header `Warning`, in which Kubernetes says what it does not like and accepts. */
function warningsOf({ headers: { warning = '' } }: IncomingMessage): string[] {
  return [...String(warning).matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1').slice(0, MOST_TEXT),
  );
}

/**
 * Returns the error for an answer that is no success. A server that says 500 without a reason has stumbled over the
 * object, and will do so again; 429 and other statuses from 500 say that it cannot work now.
 */
function refusal(status: number, text: string): Error {
  const { reason, message } = statusOf(text);
  const stumbled = status === 500 && message !== undefined && !reason;
  if ((status === 429 || status >= 500) && !stumbled) {
    return new ExecutorUnreachable(`The cluster does not answer (${status}${message ? `: ${message}` : ''}).`);
  }
  return new ClusterRefused(status, message ?? (text.slice(0, MOST_TEXT) || 'it gives no reason.'));
}

function statusOf(text: string): { readonly reason?: string; readonly message?: string } {
  try {
    const { kind, reason, message } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (kind !== 'Status' || typeof message !== 'string') return {};
    return { message: message.slice(0, MOST_TEXT), ...(typeof reason === 'string' && { reason }) };
  } catch {
    return {};
  }
}

/** Mistakes in what was to be sent are refusals; all other errors are those of connections. */
function problemOf(error: unknown): Error {
  if (error instanceof StepFailed || error instanceof ExecutorUnreachable) return error;
  const text = error instanceof Error ? error.message.slice(0, MOST_TEXT) || error.name : String(error);
  if (error instanceof TypeError || error instanceof URIError || error instanceof RangeError) {
    return new StepFailed(`The request cannot be sent: ${text}`, { cause: error });
  }
  const { code } = error as { code?: unknown };
  return new ExecutorUnreachable(`The cluster does not answer (${typeof code === 'string' ? code : text}).`, {
    cause: error,
  });
}
