import type { GateJudgedMessage } from '@fairlead/contracts';
import { type DomainEvent, type Model, same } from '@fairlead/eventing';
import type { GateVerdict } from './gate-verdict';

/** An experiment that counted, and who wrote it. */
export interface CountedExperiment {
  readonly id: string;
  readonly name: string;
  /** The key that made it. */
  readonly actor: string | null;
  /** The keys that wrote what counted of it. */
  readonly writers: readonly string[];
  /** Scores that others have given, which did not count. */
  readonly scores_left_out: number;
  readonly role: 'baseline' | 'revision';
  readonly gate: string;
}

export type GateJudged = DomainEvent<
  'GateJudged',
  GateJudgedMessage & {
    /** Name of the method, with its version. */
    readonly method: string;
    /** SHA-256 (hex) of the scores that were looked at. */
    readonly data: string;
    readonly verdicts: readonly GateVerdict[];
    readonly experiments: readonly CountedExperiment[];
  }
>;

/** Findings of a look. */
export type Look = Pick<GateJudged['data'], 'verdicts' | 'experiments' | 'data'>;

/** The looks at the evidence for one revision, folded from a stream `gate-<revision id>`. */
export interface Judgements {
  readonly looks: number;
  /** Number of events, with those that found too little to look at. */
  readonly told: number;
  /** The experiments of the revision that have counted in any look, by gate. */
  readonly counted: readonly CountedExperiment[];
  readonly last: (GateJudged['data'] & { readonly time: string }) | null;
}

export const judgementsModel: Model<Judgements, GateJudged> = {
  initial: { looks: 0, told: 0, counted: [], last: null },
  evolve: ({ told, counted }, { data, time }) => {
    const isNew = ({ id, gate, role }: CountedExperiment) =>
      role === 'revision' && !counted.some((one) => one.id === id && one.gate === gate);
    const all = [...counted, ...data.experiments.filter(isNew)];
    return { looks: data.look, told: told + 1, counted: all, last: { ...data, time } };
  },
};

/** Looks in which limits are tested; after them only a person decides. */
const MOST_LOOKS = 20;
/** Events of one revision. */
const MOST_TOLD = 200;

/** The members of an event that follow from what the look after `state` has found. The same scores use up no look. */
export function concluded(
  { looks, last }: Judgements,
  { verdicts, data }: Look,
): Pick<GateJudged['data'], 'look' | 'outcome' | 'reasons' | 'verdicts'> {
  if (data === last?.data) {
    return { look: last.look, outcome: last.outcome, reasons: last.reasons, verdicts: last.verdicts };
  }
  const tested = verdicts.some((one) => one.tested);
  const usedUp = tested && looks >= MOST_LOOKS;
  const isCounted = tested && !usedUp;
  const outcomes = verdicts.map(({ outcome }) => outcome);
  const decided = outcomes.includes('refuse') ? 'refuse' : outcomes.includes('hold') ? 'hold' : 'promote';
  const reasons = verdicts.flatMap((one) => one.reasons.map((reason) => `${one.gate}: ${reason}`));
  return {
    verdicts,
    look: looks + Number(isCounted),
    outcome: usedUp ? 'hold' : decided,
    reasons: usedUp ? [`There were ${MOST_LOOKS} looks: only a person can let it through.`] : reasons,
  };
}

/** Notes a look at other evidence than the last one, which followed `seen` events; nothing follows a verdict. */
export function noteLook(look: GateJudged['data'], seen: number): (state: Judgements) => GateJudged[] {
  return ({ told, last, looks }) => {
    if (last && last.outcome !== 'hold') return [];
    // Another process has looked meanwhile.
    if (told !== seen) return [];
    const isFinal = look.outcome !== 'hold';
    const isCounted = look.look > looks;
    const isSame = last?.data === look.data && same(last.experiments, look.experiments);
    if (!isFinal && !isCounted && (isSame || told >= MOST_TOLD)) return [];
    return [{ type: 'GateJudged', data: look }];
  };
}
