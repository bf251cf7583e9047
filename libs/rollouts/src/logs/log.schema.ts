import {
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  str,
  timestamp,
  union,
  uuid,
} from '@fairlead/schema';

const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const lower = Object.fromEntries(LEVELS.map((level) => [level.toLowerCase(), level]));

export const logPath = object({ deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.') });
export const revisionLogPath = object({
  deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.'),
  revision_id: note(uuid(), 'The `id` of a revision of the deployment.'),
});

const place = str({ pattern: /^\d{1,18}$/ });

const OFFSET = 'The `next_offset` of the previous page; absent: the first page.';
const level = optional(
  literal([...LEVELS, 'CRITICAL'], {
    aliases: { ...lower, WARN: 'WARNING', warn: 'WARNING', critical: 'CRITICAL' },
  }),
);
/** Parameters that all logs have. */
const members = {
  order: note(optional(literal(['asc', 'desc']), 'asc'), '`asc`: the oldest lines first; `desc`: the newest first.'),
  limit: note(optional(int({ ge: 1, le: 1000 }), 100), 'Largest number of lines in the answer.'),
  query: note(optional(str({ max: 1000 })), 'Only lines that contain this text, in upper or lower case.'),
  start_time: note(optional(datetime()), 'Only lines from this time on.'),
  end_time: note(optional(datetime()), 'Only lines up to this time.'),
};

/** Body of a request for logs. `offset` is the `next_offset` of the page before. */
export const logQuery = object('LogsRequest', {
  ...members,
  offset: note(optional(union(place, int({ ge: 0 }))), OFFSET),
  level: note(level, 'Only lines of exactly this level.'),
});

export type LogQuery = Infer<typeof logQuery>;

/** Query of the route that answers what a program writes. */
export const programLogQuery = object({
  ...members,
  offset: note(optional(place), OFFSET),
  level: note(level, 'Only lines of this level and of those above it.'),
  revision_id: note(
    optional(uuid()),
    'Lines of the program of this revision, which answers at an address of its own while its gates hold it; absent: those of the active revision.',
  ),
  wait: note(
    optional(int({ ge: 0, le: 60 }), 0),
    'Longest time to wait for a line, in seconds, while there is none. With `order` `asc` only.',
  ),
});

const MOST_BINS = 200;
/** Query of the route that counts the lines of a log over time. */
export const logCountsQuery = object({
  phase: note(
    optional(literal(['build', 'deploy', 'run']), 'deploy'),
    'The log: of builds, of deployments, or what the program writes.',
  ),
  revision_id: note(optional(uuid()), 'Only lines of this revision; not with `run`.'),
  bins: note(optional(int({ ge: 1, le: MOST_BINS }), 60), 'Number of equal parts of the time.'),
});

export type LogCountsQuery = Infer<typeof logCountsQuery>;

export const logCounts = object('LogCounts', {
  from: note(nullable(timestamp()), 'Time of the first of these lines; null when there are none.'),
  to: note(nullable(timestamp()), 'Time of the last of these lines; null when there are none.'),
  bins: note(
    list(
      object('LogCountsBin', {
        at: note(timestamp(), 'When this part of the time begins.'),
        lines: note(int(), 'Lines of all levels.'),
        warnings: note(int(), 'Those with the level `WARNING`.'),
        errors: note(int(), 'Those with the level `ERROR` or `CRITICAL`.'),
      }),
    ),
    'Parts of the time between the two, the first one first; parts without lines are left out.',
  ),
});

const line = object('LogLine', {
  id: note(str(), 'Identifier of the line.'),
  timestamp: note(timestamp(), 'When the line was written.'),
  level: note(
    literal(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']),
    'What the line of a program tells of itself. Else `INFO` for standard output, `WARNING` for standard error.',
  ),
  message: note(str(), 'Text of the line, at most 16,384 characters; values of secrets are `[redacted]`.'),
});

export type LogLine = Infer<typeof line>;

export const logs = object('LogsPage', {
  logs: note(list(line), 'Lines in the order that was asked for.'),
  next_offset: note(nullable(str()), 'Value for `offset` to get the next page; null when this one is empty.'),
});
