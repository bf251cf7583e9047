import type { RevisionHeldMessage } from '@fairlead/contracts';
import { EventStore, fold, type Recorded, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { GateEvidenceService } from './gate-evidence.service';
import { METHOD } from './gate-verdict';
import { concluded, type GateJudged, judgementsModel } from './held-revision';

/** The members of a verdict that are computed. */
type Computed = Pick<GateJudged['data'], 'outcome' | 'look' | 'reasons' | 'verdicts'>;

interface Repetition {
  /** Null when the verdict cannot be computed from the same scores. */
  readonly repeated: Computed | null;
  /** Why not; null when it can. */
  readonly reason: string | null;
}

/** Computes verdicts of the log again. */
@Injectable()
export class RepeatedVerdicts {
  constructor(
    private readonly store: EventStore,
    private readonly evidence: GateEvidenceService,
  ) {}

  /** Computes the last of `looks`, all looks at a revision of the workspace, again from the scores that it names. */
  async repeat(tenantId: string, looks: readonly Recorded<GateJudged>[]): Promise<Repetition> {
    const { revision_id, deployment_id, method, experiments, data } = looks.at(-1)!.data;
    if (method !== METHOD) return impossible(`This version does not compute with the method ${method}.`);
    if (data === '') return impossible('The end of the wait has decided, not scores.');
    const gates = await this.gatesOf(deployment_id, revision_id);
    if (!gates) return impossible('The log does not say the gates of the revision.');
    const judged = { tenant_id: tenantId, deployment_id, revision_id, lookedAt: looks.at(-1)!.time };
    const found = await this.evidence.findAgain(judged, gates, experiments);
    const present = new Set(
      found.flatMap(({ baseline, candidates }) => [...baseline, ...candidates].map(({ id }) => id)),
    );
    const gone = experiments.filter(({ id }) => !present.has(id));
    if (gone.length > 0) return impossible(`The experiment ${gone[0]!.name} (${gone[0]!.id}) is gone.`);
    // Looks at the same scores say what the first of them has found.
    const same = looks.findLastIndex((look) => look.data.data !== data);
    const before = fold(judgementsModel, looks.slice(0, same + 1));
    const look = await this.evidence.look(judged, found, before.looks + 1);
    if (look.data !== data) return impossible(`The scores have changed: their hash is ${look.data} now.`);
    return { repeated: concluded(before, look), reason: null };
  }

  private async gatesOf(deploymentId: string, revisionId: string): Promise<RevisionHeldMessage['gates'] | undefined> {
    for await (const part of this.store.parts(streamName('deployment', deploymentId))) {
      for (const { type, data } of part) {
        if (type !== 'RevisionHeld') continue;
        const { revision_id, gates } = data as RevisionHeldMessage;
        if (revision_id === revisionId) return gates;
      }
    }
    return undefined;
  }
}

function impossible(reason: string): Repetition {
  return { repeated: null, reason };
}
