import type { DeploymentState } from './deployment';
import type { DeploymentEvent } from './deployment-events';

/** Nothing has happened to the deployment since `time`, an ISO text, and nobody uses it: UNUSED until that changes. */
export function reportUnused(time: string): (state: DeploymentState) => DeploymentEvent[] {
  return (state) => {
    if (state?.status !== 'READY' || state.removed || state.running || state.queued.length > 0) return [];
    if (Date.parse(state.updated_at) > Date.parse(time)) return [];
    const reason = `Neither changed nor traced since ${time}.`;
    return [{ type: 'DeploymentStatusReported', data: { status: 'UNUSED', reason } }];
  };
}

/** Somebody uses the deployment: no longer UNUSED. */
export function reportUsed(state: DeploymentState): DeploymentEvent[] {
  if (state?.status !== 'UNUSED' || state.removed) return [];
  return [{ type: 'DeploymentStatusReported', data: { status: 'READY' } }];
}
