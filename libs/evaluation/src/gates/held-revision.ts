import type { GateJudgedMessage } from '@fairlead/contracts';
import type { DomainEvent, Model } from '@fairlead/eventing';
import type { GateVerdict } from './gate-verdict';

/** An experiment that counted, and the key that made it. */
export interface CountedExperiment {
  readonly id: string;
  readonly name: string;
  readonly actor: string | null;
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

/** The looks at the evidence for one revision, folded from a stream `gate-<revision id>`. */
export interface Judgements {
  readonly looks: number;
  /** Number of events, with those that found too little to look at. */
  readonly told: number;
  readonly last: (GateJudged['data'] & { readonly time: string }) | null;
}

export const judgementsModel: Model<Judgements, GateJudged> = {
  initial: { looks: 0, told: 0, last: null },
  evolve: ({ told }, { data, time }) => ({ looks: data.look, told: told + 1, last: { ...data, time } }),
};

/** Looks in which limits are tested; after them only a person decides. */
export const MOST_LOOKS = 20;
/** Events of one revision. */
const MOST_TOLD = 200;

/** Notes a look at other evidence than the last one; nothing follows a verdict. */
export function noteLook(look: GateJudged['data']): (state: Judgements) => GateJudged[] {
  return ({ told, last, looks }) => {
    if (last && last.outcome !== 'hold') return [];
    // Another process has looked meanwhile.
    if (look.look !== looks && look.look !== looks + 1) return [];
    const isFinal = look.outcome !== 'hold';
    const isCounted = look.look > looks;
    if (!isFinal && !isCounted && (last?.data === look.data || told >= MOST_TOLD)) return [];
    return [{ type: 'GateJudged', data: look }];
  };
}
