import type { PreviewAssignment, RevisionAssignment } from '../port/executor';

/** A revision as a workload of the cluster: that of its deployment, or one beside it while its gates hold it. */
export type Workload = Pick<RevisionAssignment, 'tenantId' | 'deploymentId' | 'name' | 'revision'> &
  Partial<Pick<PreviewAssignment, 'preview'>>;
/** A deployment, or one of its workloads. */
export type Owner = Pick<Workload, 'deploymentId'> & Partial<Pick<Workload, 'preview' | 'revision'>>;

export const REVISION_LABEL = 'fairlead.dev/revision-id';
const LONGEST_VALUE = 63;

/** Labels by which the objects of a workload are found, and no others. */
export function selector({ deploymentId, preview, revision }: Owner): Record<string, string> {
  if (!preview) return { 'fairlead.dev/deployment-id': deploymentId };
  return { ...previewSelector({ deploymentId }), [REVISION_LABEL]: revision!.revision_id };
}

/** Labels of the objects of all held revisions of a deployment. */
export function previewSelector({ deploymentId }: Owner): Record<string, string> {
  return { 'fairlead.dev/preview-of': deploymentId };
}

/** Labels that say whose objects these are, and what they run. */
export function managedLabels(described: Workload): Record<string, string> {
  const { tenantId, deploymentId, name, revision } = described;
  const { image_uri = '' } = revision.source_revision_config;
  const version = labelValue(/:([\w][\w.-]*)$/.exec(image_uri)?.[1] ?? '');
  return {
    'app.kubernetes.io/name': labelValue(name) || 'agent',
    'app.kubernetes.io/instance': `fairlead-${deploymentId}`,
    ...(version !== '' && { 'app.kubernetes.io/version': version }),
    'app.kubernetes.io/managed-by': 'fairlead',
    'fairlead.dev/workspace-id': tenantId,
    [REVISION_LABEL]: revision.revision_id,
    ...selector(described),
  };
}

/** A text as the value of a label: characters that labels do not take become hyphens, and its end is cut off. */
function labelValue(text: string): string {
  const allowed = text.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return allowed.slice(0, LONGEST_VALUE).replace(/[^A-Za-z0-9]+$/, '');
}
