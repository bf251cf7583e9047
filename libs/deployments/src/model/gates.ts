import { type Gate, previewOf } from '@fairlead/contracts';
import { same } from '@fairlead/eventing';
import { Forbidden } from '@fairlead/schema';
import { checkChangeable, type Deployment, type DeploymentState } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { InvalidDeployment } from './deployment.errors';
import { statusOf } from './revision';
import { moved, replaceHeld, runNewest } from './revision-turns';
import { RevisionEnded, RevisionNotHeld } from './revision.errors';

const DAY_MS = 86_400_000;

/**
 * Replaces the gates of a deployment; equal ones change nothing. `mayWeaken`: true when the caller may change and remove
 * gates that are there. @throws InvalidDeployment, Forbidden, DeploymentBeingDeleted
 */
export function declareGates(gates: readonly Gate[], mayWeaken: boolean) {
  return (state: Deployment): DeploymentEvent[] => {
    checkChangeable(state);
    checkNames(gates);
    const before = state.gates ?? [];
    if (same(before, gates)) return [];
    const hasSecrets = previewOf(gates)?.secrets === true && previewOf(before)?.secrets !== true;
    if (hasSecrets && !mayWeaken) {
      throw new Forbidden('A gate with preview_secrets needs a key with the scope admin, and a reason in x-reason.');
    }
    const kept = before.every((gate) => gates.some((other) => same(gate, other)));
    if (!kept && !mayWeaken) {
      throw new Forbidden('Changing or removing a gate needs a key with the scope admin, and a reason in x-reason.');
    }
    return [{ type: 'GatesDeclared', data: { gates } }];
  };
}

/** A decision about a deployment whose gates are replaced first, so that they hold a revision that it makes. */
export function afterGates(
  gates: readonly Gate[],
  mayWeaken: boolean,
  decide: (state: Deployment) => readonly DeploymentEvent[],
): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    const declared = declareGates(gates, mayWeaken)(state);
    return [...declared, ...decide({ ...state, gates: gates.length > 0 ? gates : undefined })];
  };
}

/** @throws InvalidDeployment when two gates have one name */
export function checkNames(gates: readonly Gate[]): void {
  const names = gates.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidDeployment(`Two gates have the name ${JSON.stringify(twice)}.`);
  const alone = gates.find(({ preview, preview_secrets }) => preview_secrets && !preview);
  if (alone) throw new InvalidDeployment(`The gate ${JSON.stringify(alone.name)} has preview_secrets without preview.`);
}

/**
 * Holds the running revision, which is ready to be deployed, until its gates let it through. Newer ones go on at once.
 * Nothing for one that has no gates, or that has been let through meanwhile. `now` is in milliseconds since 1970.
 */
export function hold(revisionId: string, gates: readonly Gate[], now: number) {
  return (state: Deployment): DeploymentEvent[] => {
    const { running, queued, active_revision_id } = state;
    if (running?.id !== revisionId || !running.gated) return [];
    const days = Math.min(...gates.map(({ wait_days }) => wait_days));
    const until = new Date(now + days * DAY_MS).toISOString();
    const ready = running.status === 'AWAITING_DEPLOY' ? [] : [moved(revisionId, running.status, 'AWAITING_DEPLOY')];
    const held: DeploymentEvent = {
      type: 'RevisionHeld',
      data: { revision_id: revisionId, gates, active_revision_id, until },
    };
    const newest = queued.at(-1);
    if (!newest) return [...ready, held];
    return [...ready, held, ...replaceHeld({ held: { id: revisionId, until } }, newest.id), ...runNewest(state)];
  };
}

/** Lets a held revision be deployed, because its gates promote it. */
export function promote(revisionId: string): (state: DeploymentState) => DeploymentEvent[] {
  return (state) => {
    if (state?.held?.id !== revisionId) return [];
    return [{ type: 'RevisionReleased', data: { revision_id: revisionId, by: 'verdict' } }];
  };
}

/** Ends a held revision, because its gates refuse it. */
export function refuse(revisionId: string, reasons: readonly string[]): (state: DeploymentState) => DeploymentEvent[] {
  return (state) => {
    if (state?.held?.id !== revisionId) return [];
    const data = { revision_id: revisionId, previous_status: 'AWAITING_DEPLOY', status: 'DEPLOY_FAILED' } as const;
    return [{ type: 'RevisionStatusChanged', data: { ...data, reason: reasons.join(' ') } }];
  };
}

/** Lets a revision through whatever its gates say. @throws RevisionEnded, RevisionNotHeld, DeploymentBeingDeleted */
export function override(revisionId: string): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    checkChangeable(state);
    if (statusOf(state, revisionId) === undefined) throw new RevisionEnded(revisionId);
    const { held, running, queued } = state;
    const waits = [running, ...queued].some((one) => one?.id === revisionId && one.gated);
    if (held?.id !== revisionId && !waits) throw new RevisionNotHeld(revisionId);
    return [{ type: 'RevisionReleased', data: { revision_id: revisionId, by: 'override' } }];
  };
}
