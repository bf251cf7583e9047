import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api, readShared } from '../../api/client';
import { ErrorPage } from '../../ui/error-page';
import { runName } from '../../ui/format';
import { Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { LinkNote } from '../../ui/share';
import { RunView } from './run-view';

/** A run for whoever has a share link to it. */
export function LinkedRunPage() {
  const { token } = useParams({ from: '/public/$token/shared-run' });
  const link = useQuery({
    queryKey: ['shared', token, 'link'],
    queryFn: ({ signal }) => {
      const params = { path: { link_token: token } };
      return answered(api.GET('/api/v1/public/{link_token}/link', { params, signal, credentials: 'omit' }));
    },
  });
  const id = link.data?.run_id;
  const run = useQuery({
    queryKey: ['shared', token, 'linked run', id],
    queryFn: async ({ signal }) => {
      const path = `/api/v1/public/${encodeURIComponent(token)}/link/runs/${encodeURIComponent(id!)}`;
      return (await readShared(path, signal)) as Readonly<Record<string, unknown>>;
    },
    enabled: typeof id === 'string',
  });
  const name = runName(run.data?.name, 'Shared run');
  useTitle(name);
  if (link.error && !link.data) {
    return <ErrorPage error={link.error} thing="shared run" retry={() => void link.refetch()} />;
  }
  return (
    <Page title={<Text>{name}</Text>}>
      {link.data && <LinkNote hidden={link.data.hidden} until={link.data.expires_at} />}
      {run.error && <Problem error={run.error} retry={() => void run.refetch()} />}
      {link.data && !id && <p>This link shows a comparison, no run.</p>}
      {!run.data && !run.error && id !== null && <Skeleton />}
      {run.data && <RunView run={run.data} />}
    </Page>
  );
}
