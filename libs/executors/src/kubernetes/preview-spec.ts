import { isObject } from '@fairlead/schema';
import { type PreviewAssignment, StepFailed } from '../port/executor';

/** Members of pods by which programs get what Secrets or accounts of the cluster hold. */
const OF_SECRETS = /secret|^serviceAccountToken$|^csi$/i;
const NEEDS_SECRETS =
  'Volumes or containers of its pods use Secrets of the cluster, which it has only with preview_secrets in a gate.';

/**
 * Returns a revision as it runs while its gates hold it: with the secrets that they give it, and empty volumes in place of
 * those to which the deployment writes. @throws StepFailed when its pods cannot be without Secrets
 */
export function previewSpec({ revision, preview }: PreviewAssignment): PreviewAssignment['revision'] {
  const { resource_spec, secret_references } = revision;
  const { volumes, init_containers, sidecars } = resource_spec ?? {};
  if (!preview.secrets && usesSecrets([volumes, init_containers, sidecars])) throw new StepFailed(NEEDS_SECRETS);
  const own = Array.isArray(volumes) && { volumes: volumes.map(withoutData) };
  return {
    ...revision,
    secret_references: preview.secrets ? secret_references : null,
    // A cloud may give rights to what runs with an account.
    resource_spec: resource_spec && {
      ...resource_spec,
      ...own,
      ...(!preview.secrets && { service_account_name: undefined }),
    },
  };
}

function usesSecrets(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(usesSecrets);
  if (!isObject(value)) return false;
  return Object.entries(value).some(([member, inner]) => OF_SECRETS.test(member) || usesSecrets(inner));
}

function withoutData(volume: unknown): unknown {
  const { name, persistentVolumeClaim, nfs, csi } = volume as Readonly<Record<string, unknown>>;
  const source = (persistentVolumeClaim ?? nfs ?? csi) as { readonly readOnly?: boolean } | null | undefined;
  return source && !source.readOnly ? { name, emptyDir: {} } : volume;
}
