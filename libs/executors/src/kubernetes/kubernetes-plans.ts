import type { PlannedRevision, Rehearsal, RolloutPlans } from '@fairlead/contracts';
import { NamespaceProblem, TimeLimit } from '@fairlead/schema';
import { objectsOf } from './additions';
import { type Call, ClusterClient } from './cluster.client';
import { ExecutorUnreachable, StepFailed } from '../port/executor';
import type { KubernetesSettings } from './kubernetes-executor';
import { placeOf } from './place';

/** Time limit of the cluster for a dry run (ms). */
const REHEARSAL_MS = 10_000;

/** Says what a Kubernetes cluster would do with a revision. */
export class KubernetesPlans implements RolloutPlans {
  private readonly cluster: ClusterClient;

  constructor(private readonly settings: KubernetesSettings) {
    this.cluster = new ClusterClient(settings);
  }

  refusal(planned: PlannedRevision): string | undefined {
    return sentenceOf(() => placeOf(planned, this.settings));
  }

  namespaceRefusal(tenantId: string, namespace: string): string | undefined {
    return sentenceOf(() => this.settings.namespaces.of(tenantId, namespace));
  }

  /** Applies every object with `dryRun=All`: the cluster checks it as in earnest, and stores nothing. */
  async rehearse(planned: PlannedRevision): Promise<Rehearsal> {
    const warnings: string[] = [];
    const limit = new TimeLimit(REHEARSAL_MS);
    const call = { signal: limit.signal, warn: async (text: string) => void warnings.push(text) };
    try {
      await this.apply(planned, call);
      return { warnings };
    } catch (error) {
      if (error instanceof StepFailed) return { refusal: error.message, warnings };
      if (error instanceof ExecutorUnreachable) return { unreachable: error.message, warnings };
      if (limit.hasPassed) return { unreachable: 'The cluster does not answer in time.', warnings };
      throw error;
    } finally {
      limit.end();
    }
  }

  private async apply(planned: PlannedRevision, call: Call): Promise<void> {
    const place = placeOf(planned, this.settings);
    await this.cluster.requireNamespace(place.namespace, call);
    const { wanted } = await objectsOf(planned, place, this.settings);
    for (const object of wanted) await this.cluster.apply(object, call, true);
  }
}

function sentenceOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof StepFailed || error instanceof NamespaceProblem) return error.message;
    throw error;
  }
}
