import { isSliceMember, SLICE_MEMBER } from '@fairlead/contracts';
import {
  bool,
  int,
  list,
  literal,
  note,
  num,
  object,
  optional,
  record,
  refine,
  str,
  union,
  uuid,
} from '@fairlead/schema';

/** Gates of a deployment. */
const MOST_GATES = 10;
/** Keys of API keys that one gate trusts. */
const MOST_TRUSTED = 100;
/** Characters of the name of a gate, and of the branch of a baseline. */
const LONGEST_NAME = 100;
/** Slices of one gate; characters of a member and of a value. */
const [MOST_SLICES, LONGEST_MEMBER, LONGEST_VALUE] = [10, 200, 100];

const CLOSED = { closed: true } as const;

const keyLimits = object(
  'GateKey',
  {
    min_mean: note(optional(num()), 'The mean of the scores is at least this.'),
    max_mean: note(optional(num()), 'The mean of the scores is at most this.'),
    max_drop: note(
      optional(num({ ge: 0 })),
      'The mean is not worse than that of the baseline by more, in the direction of the key.',
    ),
  },
  CLOSED,
);

const measureLimits = object(
  'GateMeasure',
  {
    max_mean: note(optional(num({ ge: 0 })), 'The mean is at most this.'),
    max_increase: note(optional(num({ ge: 0 })), 'The mean is not higher than that of the baseline by more.'),
  },
  CLOSED,
);

const measures = object(
  'GateMeasures',
  {
    latency: note(optional(measureLimits), 'Limits for the seconds of a run.'),
    tokens: note(optional(measureLimits), 'Limits for the tokens of a run.'),
    cost: note(optional(measureLimits), 'Limits for the cost of a run.'),
  },
  CLOSED,
);

const baseline = union(
  literal(['active']),
  object(
    'GateBaselineExperiment',
    { experiment_id: note(uuid(), 'Identifier of an experiment on the dataset.') },
    CLOSED,
  ),
  object(
    'GateBaselineBranch',
    {
      branch: note(
        str({ min: 1, max: LONGEST_NAME }),
        'Name that the metadata of the newest experiment to compare with hold.',
      ),
    },
    CLOSED,
  ),
);

const limits = {
  keys: note(optional(record(keyLimits), {}), 'Limits by feedback key.'),
  measures: note(optional(measures, {}), 'Limits for latency, tokens and cost.'),
  max_error_rate: note(optional(num({ ge: 0, le: 1 })), 'The share of failed runs is at most this; from 0 to 1.'),
};

const slice = object(
  'GateSlice',
  {
    by: note(
      refine(str({ max: LONGEST_MEMBER }), (text) => (isSliceMember(text) ? undefined : `give ${SLICE_MEMBER}`)),
      'Member of the examples: `split`, `metadata.<member>` or `inputs.<member>`.',
    ),
    value: note(
      optional(str({ min: 1, max: LONGEST_VALUE })),
      'The limits hold for the rows with this value; absent: for those of each value that examples of the dataset have.',
    ),
    ...limits,
  },
  CLOSED,
);

const gate = object(
  'Gate',
  {
    name: note(str({ min: 1, max: LONGEST_NAME }), 'Name of the gate, one of its own within the deployment.'),
    dataset_id: note(uuid(), 'Dataset whose experiments are the evidence.'),
    baseline: note(
      optional(baseline, 'active' as const),
      '`active`: all experiments of the active revision. Or one experiment, or the newest whose metadata name a branch, as `branch` or `git.branch`.',
    ),
    ...limits,
    slices: note(
      optional(list(slice, { min: 1, max: MOST_SLICES })),
      'Limits for some of the rows; each holds as if there were no others.',
    ),
    min_rows: note(
      optional(int({ ge: 2, le: 1_000_000 }), 30),
      'Rows that have to be there before anything is decided.',
    ),
    max_age_days: note(optional(int({ ge: 1, le: 3650 }), 30), 'Older experiments are no evidence.'),
    evidence_keys: note(
      optional(list(uuid(), { min: 1, max: MOST_TRUSTED })),
      'Ids of the API keys whose experiments count; absent: those of all keys.',
    ),
    wait_days: note(
      optional(int({ ge: 1, le: 90 }), 7),
      'Days that a revision waits for evidence; the shortest of all gates holds.',
    ),
    preview: note(
      optional(bool()),
      'True: while it waits, the revision answers at `/apps/<name>@<its id>`, with the executors `local` and `kubernetes`.',
    ),
    preview_secrets: note(
      optional(bool()),
      'True: it has the secrets of the deployment there. To add this takes the scope `admin` and a reason.',
    ),
  },
  CLOSED,
);

/** The gates of one deployment: the same everywhere that a request or an answer holds them. */
export const gateList = list(gate, { max: MOST_GATES });

export const gates = object('DeploymentGates', {
  gates: note(gateList, 'Limits that a new revision has to be shown to keep before it is deployed; all of them hold.'),
});
