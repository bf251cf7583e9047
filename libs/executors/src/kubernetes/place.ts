import { NamespaceProblem, type Namespaces } from '@fairlead/schema';
import { type Placed, type RevisionAssignment, StepFailed } from '../port/executor';
import type { Place } from './manifests';
import { type PodRules, podProblems } from './pod-rules';

/** Sentences about members that may not be, in one reason. */
const MOST_PROBLEMS = 10;

export interface PlaceSettings extends Pick<Place, 'healthPath' | 'nodes'> {
  readonly namespaces: Namespaces;
  readonly rules: PodRules;
}

/** Returns where a revision runs. @throws StepFailed when its workspace may not have it so */
export function placeOf(
  { revision, ...placed }: Pick<RevisionAssignment, 'tenantId' | 'config' | 'revision'> & { readonly place?: string },
  { namespaces, rules, healthPath, nodes }: PlaceSettings,
): Place {
  if (revision.source_revision_config.image_uri === undefined) {
    throw new StepFailed('This installation deploys images and builds none (EXECUTOR=kubernetes): set image_uri.');
  }
  const problems = podProblems(revision, placed.tenantId, rules);
  if (problems.length > 0) throw new StepFailed(problems.slice(0, MOST_PROBLEMS).join('\n'));
  return { namespace: namespaceOf(placed, namespaces), level: rules.level, healthPath, nodes };
}

/**
 * Returns the namespace that a deployment names, whether its workspace may use it or not: what is not allowed any more is
 * taken away too.
 */
export function presentNamespace(
  { tenantId, place, config }: Placed,
  { namespaces }: Pick<PlaceSettings, 'namespaces'>,
): string | undefined {
  return namespaces.wanted(tenantId, place ?? config.listener_config?.cluster_namespace);
}

/** Returns the namespace that a deployment is in, or is to be in. @throws StepFailed when its workspace may not use it */
export function namespaceOf(
  { tenantId, place, config }: Pick<RevisionAssignment, 'tenantId' | 'config'> & { readonly place?: string },
  namespaces: Namespaces,
): string {
  try {
    return namespaces.of(tenantId, place ?? config.listener_config?.cluster_namespace);
  } catch (error) {
    throw error instanceof NamespaceProblem ? new StepFailed(error.message, { cause: error }) : error;
  }
}
