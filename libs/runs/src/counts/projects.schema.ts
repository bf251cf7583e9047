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
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';

const range = {
  from: note(timestamp(), 'First hour that was counted.'),
  to: note(timestamp(), 'End of the last hour that was counted.'),
};
const latency = (which: string) =>
  note(nullable(num()), `${which} of the latency of root runs, in seconds, within 5 %; null when none has ended.`);
const counts = {
  runs: note(int(), 'Root runs that start in the time.'),
  errors: note(int(), 'Those of them that failed.'),
  total_tokens: note(int(), 'Tokens that runs which start in the time say they used.'),
  total_cost: note(str(), 'Cost that these runs say, as a decimal number in the unit of the client.'),
  latency_p50: latency('Median'),
  latency_p99: latency('99th percentile'),
};

export const projectsQuery = object({
  from: note(optional(datetime()), 'Start of the time that is counted. Default: seven days before its end.'),
  to: note(optional(datetime()), 'End of the time that is counted, at most 92 days after its start. Default: now.'),
  q: note(optional(str({ min: 1, max: 256 })), 'Only projects with this text in their name, in upper or lower case.'),
  limit: note(optional(int({ ge: 1, le: 50 }), 20), 'Largest number of projects in the answer.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
});

export const countsQuery = object({
  from: note(optional(datetime()), 'Start of the time that is counted. Default: one day before its end.'),
  to: note(optional(datetime()), 'End of the time that is counted, at most 366 days after its start. Default: now.'),
  interval: note(
    optional(literal(['hour', 'day'])),
    'Length of the times that are counted; days are those of UTC. Hours are answered for at most 16 days. Default: `hour` up to eight days, else `day`.',
  ),
});

export const projects = object('TracingProjects', {
  projects: note(
    list(
      object('TracingProject', {
        id: note(uuid(), 'Identifier of the session.'),
        name: note(str(), 'Name of the project, unique in the workspace.'),
        description: note(nullable(str()), 'What the project is about; null when it was not given.'),
        start_time: note(timestamp(), 'Start of the session.'),
        last_run_start_time: note(nullable(timestamp()), 'Start of the newest root run; null without a run.'),
        ...counts,
      }),
    ),
    'Tracing projects, the one with the newest run first.',
  ),
  ...range,
  next_cursor: note(nullable(str()), '`cursor` of the next page; null on the last one.'),
});

export const projectCounts = object('ProjectCounts', {
  interval: note(literal(['hour', 'day']), 'Length of the times.'),
  ...range,
  counts: note(
    list(object('CountsOfTime', { time: note(timestamp(), 'Start of the hour or day.'), ...counts })),
    'Times in which something was counted, the oldest first.',
  ),
});
