import {
  bool,
  check,
  type Infer,
  int,
  list,
  note,
  num,
  object,
  optional,
  Problems,
  record,
  refine,
  str,
  uuid,
} from '@fairlead/schema';
import type { Measure } from './score-table';

const LABEL_VALUES_FORM = '{"<key>": {"<label>": <number>, …}, …}';
const OVER_CONFIGURATION =
  'For a key that is named, the categories of its feedback configuration do not count; without labels it has no values.';
const labelValues = record(record(num()));
/** The member of a query that gives numbers to labels. */
export const labelValuesText = note(
  optional(refine(str(), (text) => (labelValuesOf(text) ? undefined : `give ${LABEL_VALUES_FORM}`))),
  `Numbers that stand for labels, as JSON: ${LABEL_VALUES_FORM}. ${OVER_CONFIGURATION}`,
);
const labelLimits = object(
  'ComparisonGateLabel',
  {
    min_share: note(optional(num({ ge: 0, le: 1 })), 'Fails when a smaller share of the rows has the label.'),
    max_share: note(optional(num({ ge: 0, le: 1 })), 'Fails when a larger share of the rows has the label.'),
    max_drop: note(optional(num()), 'Fails when the share is lower than in the baseline by more.'),
    max_rise: note(optional(num()), 'Fails when the share is higher than in the baseline by more.'),
  },
  { closed: true },
);
// A limit that is misspelt would not be checked, and what should fail would pass.
const keyLimits = object(
  'ComparisonGateKey',
  {
    min_mean: note(optional(num()), 'Fails when the mean of the scores is lower.'),
    max_mean: note(optional(num()), 'Fails when the mean of the scores is higher.'),
    max_drop: note(
      optional(num()),
      'Fails when the mean is worse than that of the baseline by more, in the direction of the key.',
    ),
    max_worse: note(optional(int({ ge: 0 })), 'Fails when more rows are worse than in the baseline.'),
    min_scored: note(
      optional(num({ ge: 0, le: 1 })),
      'Fails when a smaller share of the rows that the baseline has scored is scored, from 0 to 1; otherwise the rows without a score leave nothing undecided. Without scores in the baseline, the share of the rows of the experiment.',
    ),
    labels: note(
      optional(record(labelLimits)),
      'Limits for the shares of labels, from 0 to 1, by label. With them, changed labels leave nothing undecided.',
    ),
  },
  { closed: true },
);
const measureLimits = object(
  'ComparisonGateMeasure',
  {
    max_mean: note(optional(num()), 'Fails when the mean is higher.'),
    max_increase: note(optional(num()), 'Fails when the mean of the paired differences to the baseline is higher.'),
    min_known: note(
      optional(num({ ge: 0, le: 1 })),
      'Fails when a smaller share of the rows of which the baseline has the measure has it, from 0 to 1; otherwise the rows without it leave nothing undecided.',
    ),
  },
  { closed: true },
);
const measuresLimits = object(
  'ComparisonGateMeasures',
  {
    latency: note(optional(measureLimits), 'Limits for the seconds of a run.'),
    tokens: note(optional(measureLimits), 'Limits for the tokens of a run.'),
    cost: note(optional(measureLimits), 'Limits for the cost of a run.'),
  },
  { closed: true },
);
export const gateBody = object(
  'ComparisonGate',
  {
    experiments: note(list(uuid(), { min: 1, max: 20 }), 'Experiments that the gate checks.'),
    baseline: note(uuid(), 'Experiment that they are measured against.'),
    lower_is_better: note(optional(list(str()), []), 'Feedback keys whose lower scores are better.'),
    higher_is_better: note(optional(list(str()), []), 'Feedback keys whose higher scores are better.'),
    label_values: note(
      optional(labelValues, {}),
      `Numbers that stand for labels, by key and label. ${OVER_CONFIGURATION}`,
    ),
    keys: note(
      optional(record(keyLimits), {}),
      'Limits by feedback key; a limit that cannot be checked makes the gate undecided.',
    ),
    measures: note(
      optional(measuresLimits, {}),
      'Limits for latency, tokens and cost. What has no limit is not checked, also where it is significantly worse.',
    ),
    allow_significant_regressions: note(
      optional(bool(), false),
      'False: a key that is significantly worse fails, with or without a limit.',
    ),
    max_error_rate: note(optional(num()), 'Fails when a larger share of the runs failed; from 0 to 1.'),
    max_missing: note(optional(int({ ge: 0 })), 'Fails when the experiment lacks more rows of the baseline.'),
    max_latency_p50_increase: note(
      optional(num()),
      'Fails when the median latency is higher by more than so many seconds.',
    ),
    max_latency_p99_increase: note(
      optional(num()),
      'Fails when the 99th percentile of the latency is higher by more than so many seconds.',
    ),
  },
  { closed: true },
);

/** Numbers for labels by key, of JSON; undefined when it is none, or nothing of the kind. */
export function labelValuesOf(text: string | undefined) {
  if (text === undefined) return undefined;
  try {
    return check(labelValues, JSON.parse(text), [], new Problems());
  } catch {
    return undefined;
  }
}

export type LabelLimits = Infer<typeof labelLimits>;
export type KeyLimits = Partial<Infer<typeof keyLimits>>;
export type Limits = Omit<Infer<typeof gateBody>, 'baseline' | 'experiments' | 'measures'> & {
  readonly measures: Partial<Record<Measure, Infer<typeof measureLimits>>>;
};

export class Findings {
  readonly failures: string[] = [];
  readonly gaps: string[] = [];
  compared = false;

  constructor(private readonly name: string) {}

  fail(sentence: string): void {
    this.failures.push(`${this.name}: ${sentence}`);
  }

  gap(sentence: string): void {
    this.gaps.push(`${this.name}: ${sentence}`);
  }

  limit(what: string, value: number | null | undefined, { least, most }: { least?: number; most?: number }): void {
    if ((least ?? most) === undefined) return;
    if (value === null || value === undefined) this.gap(`${what} is not known.`);
    else if (least !== undefined && value < least) this.fail(`${what} is ${shown(value)}, less than ${least}.`);
    else if (most !== undefined && value > most) this.fail(`${what} is ${shown(value)}, more than ${most}.`);
  }
}

export function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}
