import type { Gate } from '@fairlead/contracts';
import type { Writers } from './evidence-writers.service';

/** Scores of one experiment that can be left out. */
const MOST_LEFT_OUT = 1000;
/** Keys of one experiment that a verdict names. */
const MOST_NAMED = 20;

/** The part of an experiment that counts. */
export interface Trusted {
  /** False for an experiment that does not count as a whole, because of who made it. */
  readonly counts: boolean;
  /** Ids of feedback that does not count. */
  readonly leftOut: readonly string[];
  /** The keys that wrote what counts, the one that made it first. */
  readonly writers: readonly string[];
  /** Sentences about what cannot be told apart from what counts, or is not known: they hold the revision. */
  readonly reasons: readonly string[];
}

/** Tells of an actor whether it counts for a gate. Programs of deployments, and services, never do. */
export function trusts(
  evidenceKeys: Gate['evidence_keys'],
  isProgram: (actor: string) => boolean,
): (actor: string) => boolean {
  return (actor) =>
    !actor.startsWith('system:') && !isProgram(actor) && (!evidenceKeys || evidenceKeys.includes(actor));
}

/**
 * Says what counts of an experiment for a gate. One that another key has made does not count; scores that others have given
 * since are left out. Runs and changes by others cannot be left out: they hold the revision. `isProgram`: an actor is the
 * program of a deployment, which never counts. `stored`: the number of scores of the experiment.
 */
export function trustedOf(
  { evidence_keys }: Pick<Gate, 'evidence_keys'>,
  name: string,
  { maker = null, isUpload, scores, deeds, isCut }: Writers,
  isProgram: (actor: string) => boolean,
  stored: number,
): Trusted {
  const isTrusted = trusts(evidence_keys, isProgram);
  if (maker !== null && !isTrusted(maker)) return { counts: false, leftOut: [], writers: [], reasons: [] };
  const reasons: string[] = [];
  if (maker === null) reasons.push(`It is not known who made ${name}.`);
  if (isCut) reasons.push(`${name} has too many changes to tell who made them.`);
  const writers = new Set(maker === null ? [] : [maker]);
  for (const [deed, actors] of deeds) {
    for (const actor of actors) {
      if (actor === null) reasons.push(`It is not known who ${deed} ${name}.`);
      else if (isTrusted(actor)) writers.add(actor);
      else reasons.push(`The key ${actor} ${deed} ${name}, and does not count.`);
    }
  }
  const leftOut: string[] = [];
  let unknown = 0;
  for (const [id, actor] of scores) {
    if (actor === null) unknown++;
    else if (isTrusted(actor)) writers.add(actor);
    else leftOut.push(id);
  }
  // The rows of the read model can be ahead of what the log says about feedback that waited for its run.
  if (unknown > 0 || (!isUpload && stored > scores.size)) {
    reasons.push(`It is not known who gave some scores of ${name}.`);
  }
  if (leftOut.length > MOST_LEFT_OUT) {
    reasons.push(`More than ${MOST_LEFT_OUT} scores of ${name} were given with keys that do not count.`);
  }
  return { counts: true, leftOut, writers: [...writers].slice(0, MOST_NAMED), reasons };
}
