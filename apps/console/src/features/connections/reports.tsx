import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, answeredWhole, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { List } from '../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './connections.module.css';
import { CreateDialog, type Values } from './parts';

type Report = Schemas['VerdictReport'];
type Reported = Schemas['Integration']['reports'][number];

const SHOWN = 20;
const LOOK_MS = 5000;
const WORDS = {
  waiting: ['busy', 'Waits for the host'],
  sent: ['ok', 'Told'],
  ignored: ['idle', 'Nothing to tell'],
  set_aside: ['bad', 'Set aside'],
} as const;

const TOLD = { yes: 'Yes', no: 'No' };
const answerOf = (told: boolean | null | undefined) => ((told ?? true) ? 'yes' : 'no');
/** Hosts do not tell cases apart, and take a `.git` at the end. */
const plainAddress = (url: string) =>
  url
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
const isSame = (one: string, other: string) => plainAddress(one) === plainAddress(other);

/** Repositories that are told the verdicts of gates. `change` opens the dialog for one of them. */
export function Told({ reports, change }: { reports: readonly Reported[]; change: (repoUrl: string) => void }) {
  if (reports.length === 0) {
    return (
      <p className={css.quiet}>
        No repository is told of them. Each one below can be, in its commits and pull requests.
      </p>
    );
  }
  return (
    <List
      label="Repositories that are told"
      items={reports}
      keyOf={({ repo_url }) => repo_url}
      columns={[
        { title: 'Repository', kind: 'wide', cell: ({ repo_url }) => <Text>{repo_url}</Text> },
        { title: 'Statuses of commits', cell: ({ statuses }) => TOLD[answerOf(statuses)] },
        { title: 'Comment on pull requests', cell: ({ comments }) => TOLD[answerOf(comments)] },
        {
          title: 'Actions',
          kind: 'end',
          cell: ({ repo_url }) => (
            <Action scope="write" kind="quiet" aria-label={`Change ${repo_url}`} onClick={() => change(repo_url)}>
              Change …
            </Action>
          ),
        },
      ]}
    />
  );
}

interface TellProps {
  readonly integration: Schemas['Integration'];
  readonly repoUrl: string;
  readonly onClose: () => void;
}

/** The dialog that chooses what a repository is told. */
export function TellDialog({ integration: { id, reports }, repoUrl, onClose }: TellProps) {
  const { w } = useParams({ from: '/o/$w' });
  const params = { path: { integration_id: id } };
  const known = reports.find(({ repo_url }) => isSame(repo_url, repoUrl));
  const send = async (values: Values) => {
    const wanted = { repo_url: repoUrl, statuses: values.statuses === 'yes', comments: values.comments === 'yes' };
    // Others may have changed the list meanwhile: it is read again, and written only as it was read.
    const { body: now, etag = '' } = await answeredWhole(api.GET('/v1/integrations/{integration_id}', { params }));
    const others = now.reports.filter(({ repo_url }) => !isSame(repo_url, repoUrl));
    const body = { reports: wanted.statuses || wanted.comments ? [...others, wanted] : others };
    const header = { 'If-Match': etag };
    return answered(
      api.PATCH('/v1/integrations/{integration_id}', { params: { ...params, header }, body: body as never }),
    );
  };
  return (
    <CreateDialog
      title="Verdicts of gates"
      action="Save"
      lead={
        <p className={css.quiet}>
          <Text>{repoUrl}</Text> is told how the gates of its revisions decide. With two times No, it is told nothing.
        </p>
      }
      stale={['integrations', w]}
      send={send}
      onClose={onClose}
      fields={[
        { name: 'statuses', label: 'Statuses of commits', options: TOLD, first: answerOf(known?.statuses) },
        {
          name: 'comments',
          label: 'One comment on each open pull request, which is replaced',
          options: TOLD,
          first: answerOf(known?.comments),
        },
      ]}
    />
  );
}

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
