import {
  bool,
  datetime,
  type Infer,
  instant,
  literal,
  type Loc,
  note,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import type { FeedbackAdded } from '../session/experiment';
import { oneOrMany, pageOf100 } from '../common/reading';
import type { OpaqueBody } from '../common/opaque-body.schema';
import { sentScore } from '../bodies/sent-score';
import { categories, configMembers, FEEDBACK_NOTES, feedbackMembers, sourceMetadata } from '../bodies/upload-schema';

export interface SentFeedback {
  readonly data: FeedbackAdded['data'];
  readonly loc: Loc;
  readonly sessionId?: string;
  /** Members that were sent and are not kept. */
  readonly ignored: readonly string[];
}

const SOURCES = ['api', 'model', 'app', 'auto_eval'] as const;

export const userNames = 'Accepted because clients send it; there are no users, so that nothing changes.';
export const feedbackQuery = object({
  run: note(optional(oneOrMany(uuid())), 'Only feedback on these runs; repeatable.'),
  key: note(optional(oneOrMany(str())), 'Only feedback with these keys; repeatable.'),
  session: note(optional(oneOrMany(uuid())), 'Only feedback on these sessions and their runs; repeatable.'),
  source: note(optional(oneOrMany(literal(SOURCES))), 'Only feedback from these kinds of sources; repeatable.'),
  ...pageOf100,
  user: note(optional(oneOrMany(uuid())), 'Only feedback from these users: none, because feedback has no users here.'),
  has_comment: note(optional(bool()), 'True: only feedback with a comment. False: only feedback without.'),
  has_score: note(optional(bool()), 'True: only feedback with a score. False: only feedback without.'),
  level: note(
    optional(literal(['run', 'session'])),
    '`run`: only feedback on runs. `session`: only feedback on whole sessions.',
  ),
  max_created_at: note(optional(datetime()), 'Only feedback that was given up to this time.'),
  min_created_at: note(optional(datetime()), 'Only feedback that was given from this time on.'),
  include_user_names: note(optional(bool()), userNames),
  comparative_experiment_id: note(optional(uuid()), 'Only feedback that belongs to this comparative experiment.'),
});
export type FeedbackQuery = Infer<typeof feedbackQuery>;

export const configSchema = object('FeedbackConfig', {
  ...configMembers,
  is_lower_score_better: note(optional(bool()), 'True: comparisons count a lower score as better. Default false.'),
  categories: categories(),
});

const { created_at, modified_at, key, score, value, comment, correction, extra } = feedbackMembers;
const feedbackSource = object('FeedbackSource', {
  type: note(optional(literal(SOURCES), 'api'), FEEDBACK_NOTES.sourceType),
  metadata: sourceMetadata,
});
export const feedbackBody = object('FeedbackCreateSchema', {
  created_at,
  modified_at,
  key,
  score,
  value,
  comment,
  correction,
  feedback_group_id: note(
    optional(uuid()),
    'Accepted because clients send it; not kept, which the header `Warning` says.',
  ),
  comparative_experiment_id: note(optional(uuid()), 'Comparative experiment that the feedback belongs to.'),
  run_id: note(optional(uuid()), 'Run that the feedback is on; required without `session_id`.'),
  session_id: note(optional(uuid()), 'Session that the feedback is on; required without `run_id`.'),
  trace_id: note(optional(uuid()), 'Trace of the run; found by `run_id`.'),
  start_time: note(optional(datetime()), 'Start of the run; found by `run_id`.'),
  id: note(
    optional(uuid()),
    'Identifier that the feedback gets; sent again, it answers what is stored. Absent: the service makes one.',
  ),
  feedback_source: note(optional(feedbackSource), FEEDBACK_NOTES.source),
  feedback_config: note(optional(configSchema), FEEDBACK_NOTES.config),
  error: note(optional(bool()), 'Accepted because clients send it; not kept, which the header `Warning` says.'),
  extra,
});
type GivenFeedback = Infer<typeof feedbackBody>;

export function scoreData(
  score: number | boolean | undefined,
  token = '',
): Pick<FeedbackAdded['data'], 'score' | 'score_sent'> {
  if (score === undefined) return { score: null };
  const sent = sentScore(score, token);
  return { score: Number(score), ...(sent !== null && { score_sent: sent }) };
}

/** The time of the run and its trace are known from the run. */
const KEPT: ReadonlySet<string> = new Set([
  ...['created_at', 'modified_at', 'key', 'score', 'value', 'comment', 'correction', 'comparative_experiment_id'],
  ...['run_id', 'session_id', 'trace_id', 'start_time', 'id', 'feedback_source', 'feedback_config', 'extra'],
]);
const KEPT_OF_SOURCE: ReadonlySet<string> = new Set(['type', 'metadata']);

export function ignoredFeedback(body: OpaqueBody): string[] {
  const ofSource = body.others(KEPT_OF_SOURCE, 'feedback_source').map((name) => `feedback_source.${name}`);
  return [...body.others(KEPT), ...ofSource];
}

/** The event's data: opaque members as the JSON text that was sent, truth values as scores of 1 and 0. */
export function feedbackData(
  body: OpaqueBody,
  given: GivenFeedback,
  id: string,
  runId: string | null,
): FeedbackAdded['data'] {
  const sent = body.members();
  const now = instant();
  return {
    id,
    run_id: runId,
    key: given.key,
    ...scoreData(given.score, sent.get('score')),
    value: sent.get('value') ?? null,
    comment: sent.get('comment') ?? null,
    correction: sent.get('correction') ?? null,
    source_type: given.feedback_source?.type ?? 'api',
    source_metadata: body.members('feedback_source').get('metadata') ?? null,
    extra: sent.get('extra') ?? null,
    config: sent.get('feedback_config') ?? null,
    created_at: (given.created_at ?? now).iso,
    modified_at: (given.modified_at ?? now).iso,
    comparative_experiment_id: given.comparative_experiment_id ?? null,
  };
}
