import { useQuery } from '@tanstack/react-query';
import { answered, api } from './client';

/** The project that the traces of a deployment go to; null while it has none. */
export function useProjectOf(w: string, deployment: { readonly name: string; readonly tracing_project?: string }) {
  const name = deployment.tracing_project ?? deployment.name;
  return useQuery({
    queryKey: ['projects', w, 'named', name],
    queryFn: async ({ signal }) => {
      const asked = { name, reference_free: true, limit: 1, include_stats: false };
      return (await answered(api.GET('/api/v1/sessions', { params: { query: asked }, signal })))[0] ?? null;
    },
  }).data;
}

/** The deployment whose traces go to a project; null when there is none. */
export function useDeploymentOf(w: string, project: string | undefined) {
  return useQuery({
    queryKey: ['deployments', w, 'of project', project],
    queryFn: async ({ signal }) => {
      const query = { name_contains: project, limit: 20 };
      const { resources } = await answered(api.GET('/v2/deployments', { params: { query }, signal }));
      return resources.find(({ name, tracing_project: traced }) => (traced ?? name) === project) ?? null;
    },
    enabled: project !== undefined,
  }).data;
}
