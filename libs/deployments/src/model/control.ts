import { type ControlAction, CONTROLLING } from '@fairlead/contracts';
import { checkChangeable, type Deployment } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { NotControllable } from './deployment.errors';

const REASONS: Readonly<Record<string, string>> = {
  record: 'it is recorded, and nothing is run (EXECUTOR=record)',
  command: 'the executor command does not know what its commands have started',
};

const EVENTS = {
  stop: 'DeploymentStopRequested',
  start: 'DeploymentStartRequested',
  restart: 'DeploymentRestartRequested',
} as const;

/**
 * Asks for what runs to be stopped, started or restarted. Stopping a stopped deployment changes nothing unless it is
 * UNKNOWN; starting one that is not stopped changes nothing. @throws NotControllable, DeploymentBeingDeleted
 */
export function control(action: ControlAction): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    checkChangeable(state);
    const { id, active_revision_id, executor, stopped, status } = state;
    if (active_revision_id === null) throw new NotControllable(id, action, 'no revision of it has been deployed');
    if (!CONTROLLING.includes(executor ?? '')) {
      const unknown = `the executor that deployed it (${executor ?? 'not recorded'}) cannot do that`;
      throw new NotControllable(id, action, REASONS[executor ?? ''] ?? unknown);
    }
    if (action === 'restart' && stopped) throw new NotControllable(id, action, 'it is stopped; start it instead');
    if (action === 'start' && !stopped) return [];
    // One that did not stop is UNKNOWN, and is stopped once more.
    if (action === 'stop' && stopped && status !== 'UNKNOWN') return [];
    return [{ type: EVENTS[action], data: {} }];
  };
}
