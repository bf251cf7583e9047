import type { MonitorDeletedMessage, MonitorTransitionMessage } from '../ports/monitors';
import type { Row } from './row';

export const monitorEvents = {
  MonitorCreated: { schema: 1, operation: 'create_monitor' },
  MonitorChanged: { schema: 1, operation: 'update_monitor' },
  MonitorAlerted: transition('monitor.alerted'),
  MonitorRecovered: transition('monitor.recovered'),
  MonitorStateChanged: transition('monitor.state_changed'),
  MonitorDeleted: {
    schema: 1,
    operation: 'delete_monitor',
    webhook: 'monitor.deleted',
    facts: ({ name, project_id, reason }: MonitorDeletedMessage, monitor_id) => {
      return { monitor_id, name, project_id, reason };
    },
  },
} as const satisfies Readonly<Record<string, Row>>;

function transition<T extends string>(webhook: T) {
  return {
    schema: 1,
    operation: 'judge_monitor',
    webhook,
    facts: (message: MonitorTransitionMessage, monitor_id: string) => {
      const { name, state, previous_state, value, runs, reason } = message;
      const { project_id, revision_id, measure, feedback_key, alerts_when } = message;
      const { window_minutes, threshold, recovery_threshold, min_runs } = message;
      return {
        ...{ monitor_id, name, state, previous_state, value, runs, reason },
        ...{ project_id, revision_id, measure, feedback_key, alerts_when },
        ...{ window_minutes, threshold, recovery_threshold, min_runs },
      };
    },
  } as const;
}
