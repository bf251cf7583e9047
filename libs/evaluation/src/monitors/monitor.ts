import type {
  MonitorDeletedMessage,
  MonitorLimits,
  MonitorState,
  MonitorSubject,
  MonitorTransitionMessage,
} from '@fairlead/contracts';
import { type Aggregate, changedMembers, type DomainEvent, type Model, type Recorded } from '@fairlead/eventing';
import { requireSame } from '@fairlead/schema';
import { InvalidMonitor, MonitorNotFound } from './monitor.errors';

/** Members that can be changed. */
interface MonitorFacts extends MonitorLimits {
  readonly name: string;
  /** Looks in a row that have to agree before the state changes. */
  readonly looks: number;
  /** False: it is not looked at. */
  readonly enabled: boolean;
}

type MonitorCreated = DomainEvent<
  'MonitorCreated',
  MonitorFacts & MonitorSubject & { readonly monitor_id: string; readonly tenant_id: string }
>;
/** The changed members, each as it is after the change. */
type MonitorChanged = DomainEvent<'MonitorChanged', Partial<MonitorFacts>>;
type MonitorDeleted = DomainEvent<'MonitorDeleted', MonitorDeletedMessage>;
type MonitorAlerted = DomainEvent<'MonitorAlerted', MonitorTransitionMessage>;
type MonitorRecovered = DomainEvent<'MonitorRecovered', MonitorTransitionMessage>;
/** Every other change of the state: there is too little evidence, looks fail, or neither any more. */
type MonitorStateChanged = DomainEvent<'MonitorStateChanged', MonitorTransitionMessage>;

type MonitorTransition = MonitorAlerted | MonitorRecovered | MonitorStateChanged;

/** All events of a stream `monitor-<id>`. */
export type MonitorEvent = MonitorCreated | MonitorChanged | MonitorDeleted | MonitorTransition;

export interface Monitor extends MonitorFacts, MonitorSubject {
  readonly id: string;
  readonly tenant_id: string;
  readonly state: MonitorState;
  readonly state_since: string;
  /** Why looks fail; null in every other state. */
  readonly reason: string | null;
  /** Since when the last verdict is that it alerts; null while that is another one, or none. */
  readonly alerting_since: string | null;
  /** Number of changes by clients. */
  readonly edition: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

/** null until the monitor has been created. */
type MonitorStateOrNone = Monitor | null;

export const monitorModel: Model<MonitorStateOrNone, MonitorEvent> = {
  initial: null,
  evolve,
  edition: (state) => state?.edition ?? 0,
};

export const monitorAggregate: Aggregate<Monitor, MonitorEvent> = {
  category: 'monitor',
  model: monitorModel,
  notFound: (id) => new MonitorNotFound(id),
};

function evolve(monitor: MonitorStateOrNone, event: Recorded<MonitorEvent>): MonitorStateOrNone {
  const { time } = event;
  if (event.type === 'MonitorCreated') {
    const { monitor_id: id, ...members } = event.data;
    return {
      ...{ id, ...members, state: 'not_enough_evidence', state_since: time, reason: null, alerting_since: null },
      ...{ edition: 1, created_at: time, updated_at: time, removed: false },
    };
  }
  if (!monitor) return monitor;
  switch (event.type) {
    case 'MonitorChanged':
      return { ...monitor, ...event.data, edition: monitor.edition + 1, updated_at: time };
    case 'MonitorDeleted':
      return { ...monitor, removed: true };
    default: {
      const { state, reason } = event.data;
      const { alerting_since: before } = monitor;
      const alerting_since = state === 'alerting' ? (before ?? time) : state === 'ok' ? null : before;
      return { ...monitor, state, state_since: time, reason, alerting_since };
    }
  }
}

/** Creates a monitor under an id made by the caller. @throws InvalidMonitor */
export function createMonitor(wanted: MonitorCreated['data']): (state: MonitorStateOrNone) => MonitorEvent[] {
  return (state) => {
    if (state) return [];
    if ((wanted.measure === 'score') !== (wanted.feedback_key !== null)) {
      throw new InvalidMonitor('feedback_key is the key of a score, and given with the measure score alone.');
    }
    checkRecovery(wanted);
    return [{ type: 'MonitorCreated', data: wanted }];
  };
}

/** Changes the members that are sent and differ. @throws BadRequest when what it looks at would change, InvalidMonitor */
export function changeMonitor({
  project_id,
  revision_id,
  measure,
  feedback_key,
  alerts_when,
  ...wanted
}: Partial<MonitorFacts & MonitorSubject>): (state: Monitor) => MonitorEvent[] {
  return (state) => {
    requireSame({ project_id, revision_id, measure, feedback_key, alerts_when }, state);
    const data = changedMembers<Partial<MonitorFacts>>(state, wanted);
    checkRecovery({ ...state, ...data });
    return data ? [{ type: 'MonitorChanged', data }] : [];
  };
}

/** Deletes the monitor: somebody asks for it, or its project is gone. */
export function deleteMonitor(reason: MonitorDeletedMessage['reason']): (state: Monitor) => MonitorEvent[] {
  return ({ name, project_id }) => [{ type: 'MonitorDeleted', data: { name, project_id, reason } }];
}

function checkRecovery({ alerts_when, threshold, recovery_threshold }: MonitorLimits & MonitorSubject): void {
  if (recovery_threshold === null) return;
  const isBeyond = alerts_when === 'above' ? recovery_threshold > threshold : recovery_threshold < threshold;
  if (isBeyond) throw new InvalidMonitor(`recovery_threshold may not be ${alerts_when} threshold.`);
}

/** Results of a look. `problem`: why it could not be made, in one sentence. */
export type Look = { readonly problem: string } | { readonly value: number | null; readonly runs: number };

interface Streak {
  readonly toward: MonitorState;
  readonly count: number;
}

/**
 * Looks in a row that agree: those that found enough evidence, and those since then that did not. Looks without a value
 * leave the first as it is: they say nothing for or against an alert.
 */
export interface Streaks {
  readonly verdict: Streak | null;
  readonly gap: Streak | null;
}

export const NO_STREAKS: Streaks = { verdict: null, gap: null };

/** Returns the state that one look by itself speaks for. Between the two thresholds that is the last verdict. */
function foundState(monitor: Monitor, look: Look): MonitorState {
  if ('problem' in look) return 'failing';
  const { value, runs } = look;
  if (value === null || runs < monitor.min_runs) return 'not_enough_evidence';
  const { alerts_when, threshold, recovery_threshold, alerting_since } = monitor;
  const limit = alerting_since === null ? threshold : (recovery_threshold ?? threshold);
  return (alerts_when === 'above' ? value > limit : value < limit) ? 'alerting' : 'ok';
}

const isVerdict = (state: MonitorState) => state === 'ok' || state === 'alerting';

/** Returns the streaks after a look, and the state: another one only when enough looks in a row speak for it. */
export function afterLook(
  monitor: Monitor,
  { verdict, gap }: Streaks,
  look: Look,
): { readonly streaks: Streaks; readonly state: MonitorState } {
  const toward = foundState(monitor, look);
  const count = (streak: Streak | null, isSame: boolean) =>
    Math.min((isSame ? (streak?.count ?? 0) : 0) + 1, monitor.looks);
  // A monitor with a verdict leaves it after looks without a value, whatever they lack.
  const next = isVerdict(toward)
    ? { verdict: { toward, count: count(verdict, verdict?.toward === toward) }, gap: null }
    : { verdict, gap: { toward, count: count(gap, isVerdict(monitor.state) || gap?.toward === toward) } };
  const isDue = (next.gap ?? next.verdict).count >= monitor.looks;
  if (!isDue || toward === monitor.state) return { streaks: next, state: monitor.state };
  return { streaks: NO_STREAKS, state: toward };
}

/**
 * Notes that a look has changed the state of a monitor, unless it has changed since: `seen` is the monitor as the look
 * knew it.
 */
export function noteState(
  seen: Monitor,
  state: MonitorState,
  look: Look,
): (monitor: MonitorStateOrNone) => MonitorTransition[] {
  return (monitor) => {
    if (!monitor || monitor.removed || monitor.edition !== seen.edition) return [];
    if (monitor.state !== seen.state || monitor.state_since !== seen.state_since || monitor.state === state) return [];
    return [{ type: transitionOf(monitor, state), data: transition(monitor, state, look) }];
  };
}

function transitionOf({ alerting_since }: Monitor, state: MonitorState): MonitorTransition['type'] {
  if (state === 'alerting' && alerting_since === null) return 'MonitorAlerted';
  return state === 'ok' && alerting_since !== null ? 'MonitorRecovered' : 'MonitorStateChanged';
}

function transition(monitor: Monitor, state: MonitorState, look: Look): MonitorTransitionMessage {
  const { name, project_id, revision_id, measure, feedback_key, alerts_when } = monitor;
  const { window_minutes, threshold, recovery_threshold, min_runs } = monitor;
  const found = 'problem' in look ? { value: null, runs: null, reason: look.problem } : { ...look, reason: null };
  return {
    ...{ name, project_id, revision_id, measure, feedback_key, alerts_when },
    ...{ window_minutes, threshold, recovery_threshold, min_runs },
    ...{ state, previous_state: monitor.state, ...found },
  };
}
