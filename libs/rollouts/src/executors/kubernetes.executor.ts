import type { KubeConfig, KubernetesObject, KubernetesObjectApi, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Assignment,
  Executor,
  ExecutorUnreachable,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
} from './executor';
import { isPerDeployment, manifests, NAMED_KINDS, objectName, selector } from './manifests';

const MANAGER = 'fairlead';

interface KubernetesSettings {
  /** For deployments whose listener_config names none. */
  readonly namespace: string;
  /** How to reach the cluster; found as kubectl finds it (KUBECONFIG, or the pod's service account) when absent. */
  readonly config?: KubeConfig;
  /** Milliseconds between two looks at a rollout. */
  readonly look?: number;
}

/** Applies each revision to a Kubernetes cluster and watches until it is ready. It builds nothing: images only. */
export class KubernetesExecutor extends Executor {
  readonly name = 'kubernetes';
  private cluster: Promise<KubernetesObjectApi> | undefined;

  constructor(private readonly settings: KubernetesSettings) {
    super();
  }

  async prepare(assignment: Assignment, { signal }: Step): Promise<void> {
    const api = await this.api();
    const name = this.namespaceOf(assignment);
    await ask(signal, api.read({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    return { deploy: (step) => this.deploy(assignment, step), close: async () => undefined };
  }

  async remove(assignment: Assignment, { signal, log }: Step): Promise<void> {
    const api = await this.api();
    const namespace = this.namespaceOf(assignment);
    const names = new Set([objectName(assignment), `${objectName(assignment)}-queue`]);
    for (const { apiVersion, kind } of NAMED_KINDS) {
      for (const name of names) {
        const object = { apiVersion, kind, metadata: { name, namespace } };
        const gone = await ask(
          signal,
          api.delete(object, undefined, undefined, undefined, undefined, 'Background'),
        ).then(
          () => true,
          (error: unknown) => notFound(error),
        );
        if (!gone) throw new StepFailed(`${kind} ${name} could not be deleted.`);
      }
    }
    await log('INFO', `Nothing of the deployment is left in the namespace ${namespace}.`);
  }

  private async deploy(assignment: RevisionAssignment, step: Step): Promise<void> {
    const { signal, log } = step;
    if (assignment.revision.source_revision_config.image_uri === undefined) {
      throw new StepFailed('This installation deploys images and builds none (EXECUTOR=kubernetes): set image_uri.');
    }
    const api = await this.api();
    const { PatchStrategy } = await import('@kubernetes/client-node');
    const namespace = this.namespaceOf(assignment);
    const secrets = await assignment.secrets();
    const { wanted, unwanted } = manifests(assignment, namespace, secrets);
    for (const object of wanted) {
      const applied = api.patch(object, undefined, undefined, MANAGER, true, PatchStrategy.ServerSideApply);
      await ask(signal, applied);
      await log('INFO', `${object.kind} ${object.metadata?.name} is applied in the namespace ${namespace}.`);
    }
    for (const object of unwanted) {
      await ask(signal, api.delete(object)).catch((error: unknown) => {
        if (!notFound(error)) throw error;
      });
    }
    for (const object of wanted.filter(isPerDeployment)) await this.ready(api, object, assignment, step);
  }

  /** Waits until all replicas run the new template. @throws StepFailed when Kubernetes says that they will not */
  private async ready(
    api: KubernetesObjectApi,
    { metadata }: KubernetesObject,
    assignment: Assignment,
    { signal, log }: Step,
  ): Promise<void> {
    const { name = '', namespace } = metadata ?? {};
    const told = new Set<string>();
    const tell = async (line: string) => {
      if (!told.has(line)) await log('INFO', line);
      told.add(line);
    };
    for (;;) {
      const found = await ask(
        signal,
        api.read<V1Deployment>({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } }),
      );
      const { metadata: at, spec, status } = found;
      if (status?.observedGeneration !== undefined && status.observedGeneration >= (at?.generation ?? 0)) {
        const stuck = status.conditions?.find(({ type, status }) => type === 'Progressing' && status === 'False');
        if (stuck) throw new StepFailed(`${name}: ${stuck.message ?? stuck.reason ?? 'it makes no progress'}`);
        const replicas = spec?.replicas ?? 1;
        const { updatedReplicas = 0, availableReplicas = 0, replicas: all = 0 } = status;
        await tell(`${name}: ${updatedReplicas} of ${replicas} updated, ${availableReplicas} available.`);
        if (updatedReplicas >= replicas && all <= updatedReplicas && availableReplicas >= replicas) return;
      }
      for (const line of await this.troubles(api, assignment, namespace, signal)) await tell(line);
      await pause(this.settings.look ?? 1000, undefined, { signal });
    }
  }

  /** What keeps containers waiting, one sentence each. */
  private async troubles(
    api: KubernetesObjectApi,
    assignment: Assignment,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<string[]> {
    const labels = Object.entries(selector(assignment))
      .map(([label, value]) => `${label}=${value}`)
      .join(',');
    const listed = api.list<V1Pod>('v1', 'Pod', namespace, undefined, undefined, undefined, undefined, labels);
    const { items } = await ask(signal, listed);
    return items.flatMap((pod) =>
      (pod.status?.containerStatuses ?? []).flatMap(({ name, state }) => {
        const waiting = state?.waiting;
        if (!waiting?.reason || waiting.reason === 'ContainerCreating') return [];
        return [
          `${pod.metadata?.name}/${name} waits: ${waiting.reason}${waiting.message ? `, ${waiting.message}` : ''}`,
        ];
      }),
    );
  }

  private namespaceOf({ config }: Assignment): string {
    return config.listener_config?.cluster_namespace ?? this.settings.namespace;
  }

  private api(): Promise<KubernetesObjectApi> {
    this.cluster ??= this.connect();
    this.cluster.catch(() => (this.cluster = undefined));
    return this.cluster;
  }

  private async connect(): Promise<KubernetesObjectApi> {
    const client = await import('@kubernetes/client-node');
    const config = this.settings.config ?? new client.KubeConfig();
    if (!this.settings.config) config.loadFromDefault();
    return client.KubernetesObjectApi.makeApiClient(config);
  }
}

/** The answer of the cluster. @throws ExecutorUnreachable when there is none, StepFailed when it refuses */
async function ask<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let end: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(new Error('The step was ended.'));
    signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([answer, aborted]);
  } catch (error) {
    signal.throwIfAborted();
    const code = codeOf(error);
    if (code === undefined || code === 429 || code >= 500) {
      throw new ExecutorUnreachable(`The cluster does not answer (${code ?? messageOf(error)}).`, { cause: error });
    }
    throw new StepFailed(`The cluster refuses (${code}): ${sentenceOf(error)}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'number' ? code : undefined;
}

function notFound(error: unknown): boolean {
  if (error instanceof ExecutorUnreachable) throw error;
  return codeOf((error as { cause?: unknown }).cause) === 404;
}

/** The sentence of a Status object. */
function sentenceOf(error: unknown): string {
  const { body } = error as { body?: unknown };
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown } | undefined;
    if (typeof status?.message === 'string') return status.message;
  } catch {
    // Not a Status.
  }
  return messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) || error.name : String(error);
}
