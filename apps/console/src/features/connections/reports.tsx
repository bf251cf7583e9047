import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { List } from '../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './connections.module.css';

type Report = Schemas['VerdictReport'];

const SHOWN = 20;
const LOOK_MS = 5000;
const WORDS = {
  waiting: ['busy', 'Waits for the host'],
  sent: ['ok', 'Told'],
  ignored: ['idle', 'Nothing to tell'],
  set_aside: ['bad', 'Set aside'],
} as const;

/** The newest revisions of whose gates a code host was told, and why it was not. */
export function Reports({ integration }: { integration: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const queryKey = ['integrations', w, integration, 'reports'];
  const path = { integration_id: integration };
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/integrations/{integration_id}/reports', { params: { path, query: { limit: SHOWN } }, signal }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.resources.some(({ status }) => status === 'waiting') ? LOOK_MS : false,
  });
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: ({ revision_id }: Report) =>
      answered(
        api.POST('/v1/integrations/{integration_id}/reports/{revision_id}/retry', {
          params: { path: { ...path, revision_id } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton rows={3} />;
  const { resources } = list.data;
  if (resources.length === 0) return <p className={css.quiet}>The code host has been told of no gates yet.</p>;
  return (
    <>
      {retry.error && <Problem error={retry.error} />}
      <List
        label="Verdicts of gates"
        items={resources}
        keyOf={({ revision_id }) => revision_id}
        columns={[
          { title: 'Told', kind: 'number', cell: ({ sent_at }) => sent_at !== null && <Time at={sent_at} /> },
          {
            title: 'What',
            kind: 'wide',
            cell: ({ deployment_id, deployment, standing, commit, pulls, reason }) => (
              <>
                <Link
                  to="/o/$w/host/deployments/$deployment"
                  params={{ w, deployment: deployment_id }}
                  search={{ tab: 'revisions' }}
                >
                  <Text>{deployment}</Text>
                </Link>{' '}
                {standing ?? 'not held'}
                {commit !== null && ` at ${commit.slice(0, 7)}`}
                {pulls.length > 0 && `, pull request ${pulls.join(', ')}`}
                <div className={css.quiet}>
                  <Text>{reason ?? ''}</Text>
                </div>
              </>
            ),
          },
          {
            title: 'Status',
            cell: ({ status }) => <Status tone={WORDS[status][0]}>{WORDS[status][1]}</Status>,
          },
          {
            title: 'Actions',
            kind: 'end',
            cell: (one) =>
              one.status === 'set_aside' && (
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Tell again: ${one.deployment}`}
                  onClick={() => retry.mutate(one)}
                >
                  Tell again
                </Action>
              ),
          },
        ]}
      />
    </>
  );
}
