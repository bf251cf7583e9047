import type { CoreV1Event, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { StepFailed } from '../port/executor';
import { withContainers } from './ended-pods';
import { type Trouble, troublesOf } from './pod-troubles';

/** Durations in milliseconds. */
interface Patience {
  /** Longest time that an error may last which does not mend itself. */
  readonly errors: number;
  /** Longest time for which Kubernetes may report no progress: at first it may mean the revision before. */
  readonly noProgress: number;
  /** Time that a container that was started again must run before it counts as running. */
  readonly steady: number;
}

interface Found {
  /** True when all replicas run the revision, and go on running. */
  readonly isDone: boolean;
  /** True when there are as many replicas as there have to be, whatever else is going on. */
  readonly isServing: boolean;
  readonly lines: readonly string[];
}

interface Lasting {
  readonly trouble: Trouble;
  readonly since: number;
}

/** Follows one Deployment from look to look. */
export class Progress {
  private troubles: ReadonlyMap<string, Lasting> = new Map();
  private stuckSince: number | undefined;
  private readonly restarted = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly least: number,
    private readonly patience: Patience,
  ) {}

  get cause(): string | undefined {
    const all = [...this.troubles.values()].map(({ trouble }) => trouble);
    return (all.find(({ mends }) => !mends) ?? all[0])?.text;
  }

  /**
   * Takes what the cluster shows at the time `now`: the Deployment, the pods of the revision and their events.
   * @throws StepFailed when an error has lasted too long, or Kubernetes has given up.
   */
  look(deployment: V1Deployment, pods: readonly V1Pod[], events: readonly CoreV1Event[], now: number): Found {
    const { metadata, spec, status } = deployment;
    // Until then the status is that of the revision before.
    if ((status?.observedGeneration ?? -1) < (metadata?.generation ?? 0))
      return { isDone: false, isServing: false, lines: [] };
    const present = pods
      .filter(({ metadata }) => !metadata?.deletionTimestamp)
      .map((pod) => this.withoutPast(pod, now));
    const found = troublesOf(deployment, present, events);
    this.troubles = lasting(this.troubles, found, now);
    this.failForLasting(now);
    this.failForStuck(deployment, now);
    const replicas = spec?.replicas ?? 1;
    const wanted = replicas === 0 ? 0 : Math.max(this.least, replicas);
    const { updatedReplicas = 0, availableReplicas = 0, replicas: all = 0 } = status ?? {};
    const isComplete = updatedReplicas >= wanted && all <= updatedReplicas && availableReplicas >= wanted;
    const counts = `${this.name}: ${updatedReplicas} of ${wanted} updated, ${availableReplicas} available.`;
    const isSound = found.every(({ mends }) => mends);
    return {
      isDone: isComplete && isSound,
      isServing: availableReplicas >= Math.min(this.least, wanted) && isSound,
      lines: [counts, ...found.map(({ text }) => text)],
    };
  }

  private failForLasting(now: number): void {
    for (const { trouble, since } of this.troubles.values()) {
      if (!trouble.mends && now - since >= this.patience.errors) throw new StepFailed(trouble.text);
    }
  }

  private failForStuck({ status }: V1Deployment, now: number): void {
    const stuck = status?.conditions?.find(({ type, status }) => type === 'Progressing' && status === 'False');
    this.stuckSince = stuck && (this.stuckSince ?? now);
    if (!stuck || this.stuckSince === undefined || now - this.stuckSince < this.patience.noProgress) return;
    const said = `${this.name}: ${stuck.message ?? stuck.reason ?? 'there is no progress'}`;
    throw new StepFailed(this.cause === undefined ? said : `${this.cause} (${said})`);
  }

  /** The pod without the former ends of containers that have run for long enough since. */
  private withoutPast(pod: V1Pod, now: number): V1Pod {
    return withContainers(pod, (container) => {
      const { name, state, lastState, restartCount } = container;
      if (!state?.running || !lastState?.terminated) return container;
      const key = `${pod.metadata?.name}/${name}/${restartCount}`;
      const since = this.restarted.get(key) ?? now;
      this.restarted.set(key, since);
      return now - since >= this.patience.steady ? { ...container, lastState: undefined } : container;
    });
  }
}

/**
 * Troubles that are found now, each with the time and the words of its beginning: those are the cause, later ones tell
 * of waiting.
 */
function lasting(before: ReadonlyMap<string, Lasting>, found: readonly Trouble[], now: number): Map<string, Lasting> {
  const after = new Map<string, Lasting>();
  for (const trouble of found) {
    const known = before.get(trouble.key) ?? after.get(trouble.key) ?? { trouble, since: now };
    const tellsMore = known.trouble.text.includes('BackOff') && !trouble.text.includes('BackOff');
    after.set(trouble.key, tellsMore ? { trouble, since: known.since } : known);
  }
  return after;
}
