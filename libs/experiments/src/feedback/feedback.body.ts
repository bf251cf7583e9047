import {
  bool,
  datetime,
  type Infer,
  instant,
  int,
  list,
  literal,
  note,
  num,
  object,
  optional,
  rawDict,
  str,
  union,
  uuid,
} from '@fairlead/schema';
import type { FeedbackAdded } from '../sessions/experiment';
import type { OpaqueBody } from '../opaque.body';
import { sentScore } from './sent-score';
import { scoreSchema } from '../upload/upload-schema';

export const SOURCES = ['api', 'model', 'app', 'auto_eval'] as const;

const anyText = () => str({ anyText: true });
/** How the scores of a key are to be read. */
export const configSchema = object(
  {
    type: literal(['continuous', 'categorical', 'freeform']),
    min: optional(num()),
    max: optional(num()),
    is_lower_score_better: optional(bool()),
    categories: optional(list(object({ value: num(), label: optional(str({ min: 1, anyText: true })) }))),
  },
  'FeedbackConfig',
);

/** Body of POST /feedback, and of a feedback among the parts of a multipart body. */
export const feedbackBody = object(
  {
    created_at: optional(datetime()),
    modified_at: optional(datetime()),
    key: str({ min: 1, max: 180 }),
    score: optional(scoreSchema),
    value: optional(union(num(), int(), bool(), anyText(), rawDict())),
    comment: optional(anyText()),
    correction: optional(union(rawDict(), anyText())),
    feedback_group_id: optional(uuid()),
    comparative_experiment_id: optional(uuid()),
    run_id: optional(note(uuid(), 'Needed when there is no session_id.')),
    session_id: optional(note(uuid(), 'Needed when there is no run_id.')),
    trace_id: optional(uuid()),
    start_time: optional(datetime()),
    id: optional(uuid()),
    feedback_source: optional(
      object({ type: optional(literal(SOURCES), 'api'), metadata: optional(rawDict()) }, 'FeedbackSource'),
    ),
    feedback_config: optional(configSchema),
    error: optional(bool()),
    extra: optional(rawDict()),
  },
  'FeedbackCreateSchema',
);
export type GivenFeedback = Infer<typeof feedbackBody>;

/** A score as events hold it; `token` is the JSON text that was sent. */
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

/** Names of the members that were sent and are not kept. */
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
