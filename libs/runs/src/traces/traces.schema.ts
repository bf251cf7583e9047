import {
  datetime,
  int,
  list,
  literal,
  note,
  nullable,
  num,
  object,
  optional,
  record,
  refine,
  type Schema,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { oneOrMany } from '../common/reading';
import { SCORE_FORM, scoreBound } from '../common/score-bound';
import { USAGE_MEMBERS } from '../common/run-usage';

const MOST_OF_TRACE = 5000;
const MOST_VALUES = 20;

const several = <T>(item: Schema<T>) =>
  refine(oneOrMany(item), ({ length }) => (length > MOST_VALUES ? `give at most ${MOST_VALUES} values` : undefined));

const text = () => str({ min: 1, max: 512 });

export const tracesQuery = object({
  status: note(optional(several(literal(['success', 'error', 'pending']))), 'Only runs of this status; repeatable.'),
  name: note(optional(several(text())), 'Only runs of this name; repeatable.'),
  run_type: note(optional(several(text())), 'Only runs of this kind; repeatable.'),
  from: note(optional(datetime()), 'Only runs that start at this time or later.'),
  to: note(optional(datetime()), 'Only runs that start before this time.'),
  tag: note(optional(several(text())), 'Only runs with this tag; repeatable, then with all of them.'),
  metadata: note(optional(str()), 'Only runs whose metadata contain this JSON object.'),
  score: note(
    optional(several(refine(text(), (one) => (scoreBound(one) ? undefined : `give ${SCORE_FORM}`)))),
    `${SCORE_FORM}: only runs with feedback that fulfils it; repeatable.`,
  ),
  text: note(
    optional(str({ min: 1, max: 256 })),
    'Only runs that hold this text in their name, error, inputs or outputs, in upper or lower case.',
  ),
  thread_id: note(optional(text()), 'Only runs of this thread.'),
  filter: note(optional(str()), 'Only runs for which this expression is true, such as `gt(latency, 2)`.'),
  newer_than: note(optional(str()), 'The `first_cursor` of an earlier answer: only runs that are newer.'),
  limit: note(optional(int({ ge: 1, le: 100 }), 50), 'Largest number of runs in the answer.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
});

export const traceQuery = object({
  limit: note(optional(int({ ge: 1, le: MOST_OF_TRACE }), MOST_OF_TRACE), 'Largest number of runs in the answer.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
});

export const tracePath = object({
  project_id: note(uuid(), 'Identifier of the session that has the trace.'),
  trace_id: note(uuid(), 'Identifier of the root run.'),
});

const USED: Readonly<Record<(typeof USAGE_MEMBERS)[number], string>> = {
  ...{ prompt_tokens: 'Input tokens', completion_tokens: 'Output tokens', total_tokens: 'All tokens' },
  ...{ prompt_cost: 'Cost of the input', completion_cost: 'Cost of the output', total_cost: 'Whole cost' },
};

const tokens = (name: keyof typeof USED) => note(nullable(int()), `${USED[name]}; null when they are not known.`);
const cost = (name: keyof typeof USED) =>
  note(nullable(str()), `${USED[name]}, as a decimal number in the unit of the client; null when it is not known.`);

const lightMembers = {
  id: note(uuid(), 'Identifier of the run.'),
  trace_id: note(uuid(), 'Root run of the trace.'),
  name: note(str(), 'Name of the run, at most 300 characters of it.'),
  run_type: note(str(), 'Kind of step.'),
  status: note(
    literal(['success', 'error', 'pending']),
    '`error` when it failed, `success` when it ended otherwise, `pending` until it ends.',
  ),
  start_time: note(timestamp(), 'Start of the run.'),
  end_time: note(nullable(timestamp()), 'End of the run; null while it goes on.'),
  latency: note(nullable(num()), 'Seconds that the run took; null while it goes on.'),
  first_token_time: note(
    nullable(timestamp()),
    'Time of the first event `new_token` of the run; null when none is among its first events.',
  ),
  error_preview: note(nullable(str()), 'First 300 characters of the error; null without an error.'),
  prompt_tokens: tokens('prompt_tokens'),
  completion_tokens: tokens('completion_tokens'),
  total_tokens: tokens('total_tokens'),
  prompt_cost: cost('prompt_cost'),
  completion_cost: cost('completion_cost'),
  total_cost: cost('total_cost'),
  tags: note(list(str()), 'Labels of the run; empty also when they take more than 8 KB.'),
  reference_example_id: note(nullable(uuid()), 'Example that the run was made for; null for none.'),
  feedback: note(
    record(nullable(num())),
    'Mean score of each feedback key; null for a key whose feedback has no scores.',
  ),
};

const turn = object('TraceTurn', {
  role: note(str(), 'Role of the turn, such as `user`.'),
  text: note(str(), 'First 300 characters of its text.'),
});
const listed = object('ListedTrace', {
  ...lightMembers,
  inputs_preview: note(nullable(str()), 'First 300 characters of the inputs; null without inputs.'),
  outputs_preview: note(nullable(str()), 'First 300 characters of the outputs; null without outputs.'),
  'inputs_turn?': note(turn, 'The last turn of a user in inputs that are a conversation; absent for others.'),
  'outputs_turn?': note(turn, 'The last turn of outputs that are a conversation; absent for others.'),
  thread_id: note(
    nullable(str()),
    'Thread of the run; null for none, and when the further facts of the run take more than 64 KB.',
  ),
});

const next_cursor = note(nullable(str()), '`cursor` of the next page; null when nothing is left.');

export const traces = object('Traces', {
  traces: note(list(listed), 'Root runs, the newest first; usage of a root that says none is that of its trace.'),
  first_cursor: note(nullable(str()), '`newer_than` for runs that come after this answer; null without a run.'),
  next_cursor,
  searched_to: note(
    nullable(timestamp()),
    'Start of the oldest run that was looked at; a page can end here with fewer runs than `limit`. Null without a run.',
  ),
});

export const trace = object('TraceOfRuns', {
  trace_id: note(uuid(), 'Identifier of the root run.'),
  runs: note(
    list(
      object('RunOfTrace', {
        ...lightMembers,
        parent_run_id: note(
          nullable(uuid()),
          'Run that this one is a step of, which may not have arrived; null for the root.',
        ),
      }),
    ),
    'Runs of the trace by their start. The usage of a root that says none is that of its trace, of others their own.',
  ),
  next_cursor,
});
