import type { RevisionAssignment } from '../port/executor';

type Described = Pick<RevisionAssignment, 'tenantId' | 'deploymentId' | 'name' | 'revision'>;

const LONGEST_VALUE = 63;

export function selector({ deploymentId }: Pick<Described, 'deploymentId'>): Record<string, string> {
  return { 'fairlead.dev/deployment-id': deploymentId };
}

/** Labels that say whose objects these are, and what they run. */
export function managedLabels(described: Described): Record<string, string> {
  const { tenantId, deploymentId, name, revision } = described;
  const { image_uri = '' } = revision.source_revision_config;
  const version = labelValue(/:([\w][\w.-]*)$/.exec(image_uri)?.[1] ?? '');
  return {
    'app.kubernetes.io/name': labelValue(name) || 'agent',
    'app.kubernetes.io/instance': `fairlead-${deploymentId}`,
    ...(version !== '' && { 'app.kubernetes.io/version': version }),
    'app.kubernetes.io/managed-by': 'fairlead',
    'fairlead.dev/workspace-id': tenantId,
    'fairlead.dev/revision-id': revision.revision_id,
    ...selector(described),
  };
}

/** A text as the value of a label: characters that labels do not take become hyphens, and its end is cut off. */
function labelValue(text: string): string {
  const allowed = text.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return allowed.slice(0, LONGEST_VALUE).replace(/[^A-Za-z0-9]+$/, '');
}
