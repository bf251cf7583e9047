import type { GateOutcome } from '@fairlead/contracts';
import { EventStore, handle, type Lease, load, QueueWorker, streamName } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { type Found, GateEvidenceService } from './gate-evidence.service';
import { METHOD } from './gate-verdict';
import { concluded, type GateJudged, judgementsModel, noteLook } from './held-revision';
import { type HeldRevision, HeldRevisions } from './held-revisions.store';

/** Interval (ms) at which the experiments that count for a revision are looked for. */
const EVERY_MS = 3000;
const LONGEST_PAUSE_MS = 60_000;
const CONCURRENCY = 2;

/** Looks at the evidence for revisions that are held, and says what it shows. */
@Injectable()
export class GatesWorker extends QueueWorker {
  constructor(
    private readonly held: HeldRevisions,
    private readonly evidence: GateEvidenceService,
    private readonly store: EventStore,
  ) {
    super(held, new Logger('Gates'), CONCURRENCY);
  }

  protected async work({ item, signal }: Lease): Promise<void> {
    try {
      const held = await this.held.find(item.tenant!, item.id);
      const outcome = held ? await this.judge(held) : 'refuse';
      if (outcome === 'hold') await this.held.rest(item, EVERY_MS, false);
      else await this.held.finish(item);
    } catch (error) {
      if (signal.aborted) return;
      this.logger.error(error);
      const pause = Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** Math.min(item.failures, 10));
      await this.held.rest(item, pause, true).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  private async judge(held: HeldRevision): Promise<GateOutcome> {
    const { revision_id, deployment_id, until } = held;
    const stream = streamName('gate', revision_id);
    const { state } = await load(this.store, judgementsModel, stream);
    if (state.last && state.last.outcome !== 'hold') return state.last.outcome;
    const about = { deployment_id, revision_id, method: METHOD };
    if (Date.now() > Date.parse(until)) {
      const nothing = { look: state.looks, data: '', verdicts: [], experiments: [] };
      const reasons = ['The wait for evidence has ended.', ...(state.last?.reasons ?? [])];
      return this.note(held, { ...about, ...nothing, outcome: 'refuse', reasons }, state.told);
    }
    const found = await this.evidence.find(held, state.counted);
    const stamp = stampOf(found);
    if (stamp === held.stamp) return 'hold';
    const look = await this.evidence.look(held, found, state.looks + 1);
    // What was written while the log and the scores were read would count without its writer being known.
    const isTested = look.verdicts.some(({ tested }) => tested);
    if (isTested && stampOf(await this.evidence.find(held, state.counted)) !== stamp) return 'hold';
    const outcome = await this.note(held, { ...about, ...look, ...concluded(state, look) }, state.told);
    await this.held.saw(held, stamp);
    return outcome;
  }

  private async note(
    { tenant_id: tenant }: HeldRevision,
    look: GateJudged['data'],
    seen: number,
  ): Promise<GateOutcome> {
    const metadata = { tenant, actor: 'system:gates' };
    const stream = streamName('gate', look.revision_id);
    const { state } = await handle(this.store, judgementsModel, stream, noteLook(look, seen), metadata);
    return state.last?.outcome ?? 'hold';
  }
}

/** Text that changes whenever the evidence may have. */
function stampOf(found: readonly Found[]): string {
  return JSON.stringify(
    found.map(({ baseline, candidates, tooMany, lowerIsBetter, gone, examples, changes }) => {
      return [baseline, candidates, tooMany, lowerIsBetter, gone, examples, changes];
    }),
  );
}
