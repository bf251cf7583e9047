import { page, paging } from '@fairlead/api';
import { MONITOR_MEASURES, MONITOR_STATES } from '@fairlead/contracts';
import {
  bool,
  fixed,
  int,
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

const WEEK_MINUTES = 7 * 24 * 60;
const [USUAL_LOOKS, USUAL_RUNS] = [3, 20];

const name = note(str({ min: 1, max: 100 }), 'Name that people see, also in webhooks.');
const project = note(uuid(), 'The `id` of the tracing project whose runs are looked at.');
const measure = note(
  literal(MONITOR_MEASURES),
  '`score`: mean of the scores with the key `feedback_key` that were given on runs of the project in the window. The others are about root runs that started in it: `cost` in all, as the runs say it; `error_rate` from 0 to 1; latency in seconds.',
);
const direction = note(literal(['above', 'below']), 'It alerts when the value is above, or below, `threshold`.');
const window = note(int({ ge: 1, le: WEEK_MINUTES }), 'How far back it looks, in minutes; 10,080 (a week) at most.');
const threshold = note(num(), 'The value beyond which it alerts.');
const recovery = note(
  nullable(num()),
  'What is alerting recovers when the value is no longer beyond this one. Between the two values nothing changes. Null: the same as `threshold`.',
);
const looks = note(int({ ge: 1, le: 10 }), 'Looks in a row that have to agree before the state changes.');
const minRuns = note(int({ ge: 1, le: 1_000_000 }), 'Runs without which a look says nothing.');
const enabled = note(bool(), 'False: it keeps its state, and is not looked at.');
const key = note(nullable(str({ min: 1, max: 250 })), 'Key of the scores; null for every other measure.');
const revision = note(
  nullable(str({ min: 1, max: 100 })),
  'Only runs that name this revision in their metadata (`revision_id`); null: all runs.',
);

/** Body of POST /v1/monitors. */
export const createRequest = object('MonitorCreateRequest', {
  name,
  project_id: project,
  revision_id: optional(revision, null),
  measure,
  feedback_key: optional(key, null),
  alerts_when: direction,
  threshold,
  recovery_threshold: optional(recovery, null),
  window_minutes: optional(window, 60),
  looks: optional(looks, USUAL_LOOKS),
  min_runs: optional(minRuns, USUAL_RUNS),
  enabled: optional(enabled, true),
});

/** Body of PATCH. */
export const changeRequest = object('MonitorPatchRequest', {
  ...{ project_id: fixed(uuid()), revision_id: fixed(nullable(str())), measure: fixed(literal(MONITOR_MEASURES)) },
  ...{ feedback_key: fixed(nullable(str())), alerts_when: fixed(literal(['above', 'below'])) },
  name: optional(name),
  threshold: optional(threshold),
  recovery_threshold: optional(recovery),
  window_minutes: optional(window),
  looks: optional(looks),
  min_runs: optional(minRuns),
  enabled: optional(enabled),
});

export const monitorPath = object({ monitor_id: note(uuid(), 'The `id` of a monitor of this workspace.') });
export const monitorsQuery = object({
  project_id: note(optional(uuid()), 'Only monitors of this tracing project.'),
  ...paging,
});

const lastLook = object('MonitorLook', {
  at: note(timestamp(), 'When it was made.'),
  value: note(nullable(num()), 'Value of the measure; null when there was none, or the look failed.'),
  runs: note(nullable(int()), 'Runs that the value is about; null when the look failed.'),
  problem: note(nullable(str()), 'Why the look failed; null when it did not.'),
});

export const monitor = object('Monitor', {
  id: note(uuid(), 'Identifier of the monitor.'),
  ...{ name, project_id: project, revision_id: revision, measure, feedback_key: key, alerts_when: direction },
  ...{ threshold, recovery_threshold: recovery, window_minutes: window, looks, min_runs: minRuns, enabled },
  state: note(
    literal(MONITOR_STATES),
    '`not_enough_evidence`: fewer runs than `min_runs`, also before the first looks. `failing`: looks fail. Neither says that the value is good, or has recovered.',
  ),
  state_since: note(timestamp(), 'Since when it has this state.'),
  reason: note(nullable(str()), 'Why looks fail; null in every other state.'),
  alerting_since: note(
    nullable(timestamp()),
    'Since when it alerts, also while looks find too little or fail; null when it does not.',
  ),
  last_look: note(nullable(lastLook), 'What the newest look found; null before the first.'),
  created_at: note(timestamp(), 'When the monitor was created.'),
  updated_at: note(timestamp(), 'When a client last changed it.'),
});
export const monitors = page('MonitorsList', monitor);
