import { datetime, type Infer, int, literal, note, object, optional, str, union, uuid } from '@fairlead/schema';

const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const lower = Object.fromEntries(LEVELS.map((level) => [level.toLowerCase(), level]));

export const logPath = object({ deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.') });
export const revisionLogPath = object({
  deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.'),
  revision_id: note(uuid(), 'The `id` of a revision of the deployment.'),
});

const place = str({ pattern: /^\d{1,18}$/ });

/** Body of a request for logs. `offset` is the `next_offset` of the page before. */
export const logQuery = object(
  {
    order: note(optional(literal(['asc', 'desc']), 'asc'), '`asc`: the oldest lines first; `desc`: the newest first.'),
    limit: note(optional(int({ ge: 1, le: 1000 }), 100), 'Largest number of lines in the answer.'),
    offset: note(
      optional(union(place, int({ ge: 0 }))),
      'The `next_offset` of the previous page; absent: the first page.',
    ),
    level: note(
      optional(
        literal([...LEVELS, 'CRITICAL'], {
          aliases: { ...lower, WARN: 'WARNING', warn: 'WARNING', critical: 'CRITICAL' },
        }),
      ),
      'Only lines of exactly this level.',
    ),
    query: note(optional(str({ max: 1000 })), 'Only lines that contain this text, in upper or lower case.'),
    start_time: note(optional(datetime()), 'Only lines from this time on.'),
    end_time: note(optional(datetime()), 'Only lines up to this time.'),
  },
  'LogsRequest',
);

export type LogQuery = Infer<typeof logQuery>;
