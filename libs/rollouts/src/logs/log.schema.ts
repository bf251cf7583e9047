import { datetime, type Infer, int, literal, object, optional, str, union, uuid } from '@fairlead/schema';

const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const lower = Object.fromEntries(LEVELS.map((level) => [level.toLowerCase(), level]));

export const logPath = object({ deployment_id: uuid() });
export const revisionLogPath = object({ deployment_id: uuid(), revision_id: uuid() });

const place = str({ pattern: /^\d{1,18}$/ });

/** Body of a request for logs. `offset` is the `next_offset` of the page before. */
export const logQuery = object(
  {
    order: optional(literal(['asc', 'desc']), 'asc'),
    limit: optional(int({ ge: 1, le: 1000 }), 100),
    offset: optional(union(place, int({ ge: 0 }))),
    level: optional(
      literal([...LEVELS, 'CRITICAL'], {
        aliases: { ...lower, WARN: 'WARNING', warn: 'WARNING', critical: 'CRITICAL' },
      }),
    ),
    query: optional(str({ max: 1000 })),
    start_time: optional(datetime()),
    end_time: optional(datetime()),
  },
  'LogsRequest',
);

export type LogQuery = Infer<typeof logQuery>;
