import { createHash } from 'node:crypto';
import type { Gate } from '@fairlead/contracts';
import { findScoreDirections } from '@fairlead/datasets';
import { ExperimentLimits, lowerIsBetter } from '@fairlead/runs';
import { BadRequest } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { configuredLabels, datasetStamp } from '../compare/compare.queries';
import { loadScores } from '../compare/compare-scores.queries';
import { type KeyScores, MEASURES, type ScoreTable } from '../compare/score-table';
import {
  type EvidenceSession,
  goneOf,
  leftOf,
  MOST_EXPERIMENTS,
  sessionsById,
  sessionsOfBaseline,
  sessionsOfRevision,
  storedScores,
} from './gate-evidence.queries';
import { ActiveRevisions } from './active-revisions.service';
import { type Changes, EvidenceChanges, type Judged } from './evidence-changes.service';
import { actorsOf, EvidenceWriters } from './evidence-writers.service';
import { slicesOf } from './gate-slices.queries';
import { type GateVerdict, judgeGate, keysOf, MOST_REASONS, type SliceRows } from './gate-verdict';
import type { CountedExperiment, Look } from './held-revision';
import type { HeldRevision } from './held-revisions.store';
import { type Trusted, trustedOf } from './trusted-evidence';

/** The experiments that may count for one gate. */
export interface Found {
  readonly gate: Gate;
  readonly baseline: readonly EvidenceSession[];
  readonly candidates: readonly EvidenceSession[];
  /** True when there are more experiments than are read, of which those that count could be chosen. */
  readonly tooMany: boolean;
  /** Changes whenever an example of the dataset does, on which slices depend. */
  readonly examples: string;
  /** Sentences about what is not there any more. */
  readonly gone: readonly string[];
  /** Feedback keys of the gate whose lower scores are better. */
  readonly lowerIsBetter: readonly string[];
  readonly changes: Changes;
}

/** The experiments that count for one gate. */
interface Counted {
  readonly baseline: readonly EvidenceSession[];
  readonly candidates: readonly EvidenceSession[];
  readonly trusted: ReadonlyMap<string, Trusted>;
}

/** Finds and reads the experiments that count for the gates of a revision. */
@Injectable()
export class GateEvidenceService {
  constructor(
    private readonly pool: Pool,
    private readonly writers: EvidenceWriters,
    private readonly limits: ExperimentLimits,
    private readonly active: ActiveRevisions,
    private readonly changes: EvidenceChanges,
  ) {}

  /** The experiments that may count now for each gate. `before`: those that counted in earlier looks. */
  async find(held: HeldRevision, before: readonly CountedExperiment[]): Promise<Found[]> {
    const active = await this.active.of(held.deployment_id);
    return Promise.all(
      held.gates.map((gate) =>
        this.found(
          held,
          active,
          gate,
          before.filter((one) => one.gate === gate.name),
        ),
      ),
    );
  }

  /** The experiments that counted for each gate at an earlier look, as they are now; without those that are gone. */
  async findAgain(judged: Judged, gates: readonly Gate[], experiments: readonly CountedExperiment[]): Promise<Found[]> {
    const { tenant_id: tenantId } = judged;
    return Promise.all(
      gates.map(async (gate) => {
        const found = async (wanted: CountedExperiment['role']) => {
          const counted = experiments.filter(({ role, gate: of }) => role === wanted && of === gate.name);
          const place = { tenantId, datasetId: gate.dataset_id };
          return sessionsById(
            this.pool,
            place,
            counted.map(({ id }) => id),
          );
        };
        const [baseline, candidates] = [await found('baseline'), await found('revision')];
        const tooMany = Math.max(baseline.length, candidates.length) > MOST_EXPERIMENTS;
        const gone = await goneOf(this.pool, tenantId, gate);
        const lowerIsBetter = await this.lowerIsBetter(tenantId, gate);
        const changes = await this.changes.of(judged, gate);
        return { gate, gone, baseline, candidates, tooMany, lowerIsBetter, changes, examples: '' };
      }),
    );
  }

  /** Looks at the evidence. `look` is the number of the look, from 1. */
  async look(held: Judged, found: readonly Found[], look: number): Promise<Look> {
    const verdicts: GateVerdict[] = [];
    const experiments: CountedExperiment[] = [];
    const hash = createHash('sha256');
    for (const one of found) {
      const counted = await this.counted(held.tenant_id, one);
      verdicts.push(await this.judge(held, one, counted, look, hash));
      for (const role of ['baseline', 'revision'] as const) {
        for (const { id, name } of role === 'baseline' ? counted.baseline : counted.candidates) {
          const { writers, leftOut } = counted.trusted.get(id)!;
          const [actor = null] = writers;
          experiments.push({ id, name, actor, writers, scores_left_out: leftOut.length, role, gate: one.gate.name });
        }
      }
    }
    return { verdicts, experiments, data: hash.digest('hex') };
  }

  private async found(
    held: HeldRevision,
    active: string | null,
    gate: Gate,
    before: readonly CountedExperiment[],
  ): Promise<Found> {
    const { tenant_id: tenantId } = held;
    const place = { tenantId, datasetId: gate.dataset_id, maxAge: gate.max_age_days };
    const [baseline, candidates, gone, left] = await Promise.all([
      sessionsOfBaseline(this.pool, place, gate.baseline, active, held.revision_id),
      sessionsOfRevision(this.pool, place, held.revision_id),
      goneOf(this.pool, tenantId, gate),
      leftOf(this.pool, place, held.revision_id, before),
    ]);
    const isBranch = typeof gate.baseline === 'object' && 'branch' in gate.baseline;
    return {
      ...{ gate, baseline, candidates, gone: [...gone, ...left] },
      tooMany: candidates.length > MOST_EXPERIMENTS || (!isBranch && baseline.length > MOST_EXPERIMENTS),
      lowerIsBetter: await this.lowerIsBetter(tenantId, gate),
      changes: await this.changes.of(held, gate),
      examples: gate.slices ? await datasetStamp(this.pool, tenantId, gate.dataset_id) : '',
    };
  }

  /** The experiments that count for a gate, by their writers. */
  private async counted(tenantId: string, { gate, baseline, candidates }: Found): Promise<Counted> {
    const trusted = new Map<string, Trusted>();
    const stored = await storedScores(this.pool, tenantId, [...baseline, ...candidates]);
    for (const { id, name } of [...baseline, ...candidates]) {
      if (trusted.has(id)) continue;
      const writers = await this.writers.of(tenantId, id);
      const programs = await this.writers.programsAmong(actorsOf(writers));
      const isProgram = (actor: string) => programs.has(actor);
      trusted.set(id, trustedOf(gate, name, writers, isProgram, stored.get(id) ?? 0));
    }
    const counts = ({ id }: EvidenceSession) => trusted.get(id)!.counts;
    const own = candidates.filter(counts);
    const others = baseline.filter((one) => counts(one) && !own.some(({ id }) => id === one.id));
    const isBranch = typeof gate.baseline === 'object' && 'branch' in gate.baseline;
    return { trusted, candidates: own, baseline: isBranch ? others.slice(0, 1) : others };
  }

  private async judge(
    held: Judged,
    { gate, gone, tooMany, lowerIsBetter, changes }: Found,
    { baseline, candidates, trusted }: Counted,
    look: number,
    hash: ReturnType<typeof createHash>,
  ): Promise<GateVerdict> {
    const { tenant_id: tenantId } = held;
    const all = [...baseline, ...candidates];
    const unready = all.filter(({ persisted }) => !persisted);
    const running = all.filter(({ persisted, ended }) => persisted && !ended);
    const reasons = [
      ...gone,
      ...unready.map(({ name }) => `The rows of ${name} are still being stored.`),
      ...running.map(({ name }) => `${name} has not ended yet.`),
      ...(tooMany ? [`More than ${MOST_EXPERIMENTS} experiments would count.`] : []),
      ...(candidates.length === 0 && gone.length === 0 ? ['No experiment on the dataset names the revision.'] : []),
      ...changes.reasons,
      ...(await this.changes.byUploads(held, gate)),
      ...all.flatMap(({ id }) => trusted.get(id)!.reasons),
    ].slice(0, MOST_REASONS);
    hash.update(JSON.stringify([gate.name, reasons, lowerIsBetter]));
    if (reasons.length > 0) return { gate: gate.name, tested: false, outcome: 'hold', reasons, criteria: [] };
    const keys = keysOf(gate);
    const labelValues = (labelled: readonly string[]) => configuredLabels(this.pool, tenantId, labelled);
    const wanted = { keys, labelValues, without: all.flatMap(({ id }) => trusted.get(id)!.leftOut) };
    const table = await loadScores(this.pool, tenantId, all, wanted, this.limits).catch(tooMuch);
    if (typeof table === 'string') {
      hash.update(table);
      return { gate: gate.name, tested: false, outcome: 'hold', reasons: [table], criteria: [] };
    }
    add(hash, table, keys);
    const { slices, unread } = await slicesOf(this.pool, tenantId, gate, table);
    addSlices(hash, slices, unread);
    const unknown = changes.unknownLabels.filter((key) => table.labelValues.has(key));
    unread.push(...unknown.map((key) => `It is not known who gave the labels of ${key} their values.`));
    if (unknown.length > 0) hash.update(JSON.stringify(unknown));
    if (unread.length > 0) return { gate: gate.name, tested: false, outcome: 'hold', reasons: unread, criteria: [] };
    const evidence = { table, slices, baselines: baseline.length, lowerIsBetter: new Set(lowerIsBetter) };
    return judgeGate(gate, evidence, look);
  }

  private async lowerIsBetter(tenantId: string, gate: Gate): Promise<string[]> {
    const ofDataset = await findScoreDirections(this.pool, tenantId, gate.dataset_id);
    const configured = await lowerIsBetter(this.pool, tenantId);
    const { lower_is_better: lower, higher_is_better: higher } = ofDataset;
    return keysOf(gate)
      .filter((key) => lower.includes(key) || (configured.has(key) && !higher.includes(key)))
      .sort();
  }
}

/** The sentence about scores that do not fit into memory. @throws any other error */
function tooMuch(error: unknown): string {
  if (error instanceof BadRequest) return error.message;
  throw error;
}

/** Adds everything of a table that a gate may look at. */
function add(hash: ReturnType<typeof createHash>, table: ScoreTable, keys: readonly string[]): void {
  hash.update(table.ids);
  for (const { id, keys: scores, measures, runs, failed } of table.experiments) {
    hash.update(id).update(new Uint8Array(runs.buffer)).update(new Uint8Array(failed.buffer));
    for (const key of keys) addColumn(hash, scores.get(key));
    for (const measure of MEASURES) addColumn(hash, measures.get(measure));
  }
}

function addSlices(hash: ReturnType<typeof createHash>, slices: readonly SliceRows[], unread: readonly string[]): void {
  if (slices.length + unread.length === 0) return;
  hash.update(JSON.stringify([unread, slices.map(({ by, value, rows }) => [by, value, rows.length])]));
  for (const { rows } of slices) hash.update(new Uint8Array(rows.buffer));
}

/** Rows alike can have other scores, which make another range. */
function addColumn(hash: ReturnType<typeof createHash>, column: KeyScores | undefined): void {
  if (!column) return;
  const { means, passFail, least, most } = column;
  hash.update(JSON.stringify([passFail, least, most]));
  hash.update(new Uint8Array(means.buffer, means.byteOffset, means.byteLength));
}
