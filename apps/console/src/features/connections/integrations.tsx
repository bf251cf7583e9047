import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, answeredWhole, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { merged, useAddress } from '../../ui/address';
import { Filters, Typed } from '../../ui/form';
import { List, Nothing, Section } from '../../ui/list';
import { Button, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { Deliveries } from './deliveries';
import css from './connections.module.css';
import { CreateDialog, Kinds, RemoveDialog, type Values } from './parts';
import { Reports, TellDialog, Told } from './reports';

type Integration = Schemas['Integration'];
type Repository = Schemas['Repository'];

const PROVIDERS = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea or Forgejo', bitbucket: 'Bitbucket' };
const MOST_REPOSITORIES = 200;

/** The code hosts whose repositories can be deployed. */
export function IntegrationsPage() {
  useTitle('Code hosts');
  const { w } = useParams({ from: '/o/$w' });
  const { search } = useAddress();
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Integration>();
  const [told, setTold] = useState<{ integration: Integration; repoUrl: string }>();
  const list = useQuery({
    queryKey: ['integrations', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/integrations', { params: { query: { limit: 100 } }, signal })),
  });
  const items = list.data?.resources;
  return (
    <Page
      title="Connections"
      aside={
        <Action scope="write" kind="main" onClick={() => setAdding(true)}>
          Add a code host …
        </Action>
      }
    >
      <Kinds />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!items && !list.error && <Skeleton />}
      {items?.length === 0 && (
        <Nothing title="No code host yet">
          <p>
            With a token of GitHub, GitLab, Gitea, Forgejo or Bitbucket, their repositories can be deployed, and pushes
            too.
          </p>
        </Nothing>
      )}
      {items && items.length > 0 && (
        <List
          label="Code hosts"
          items={items}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              kind: 'name',
              cell: ({ id, name }) => (
                <Link
                  to="."
                  resetScroll={false}
                  search={merged({ open: search.open === id ? undefined : id })}
                  aria-expanded={search.open === id}
                >
                  <Text>{name}</Text>
                </Link>
              ),
            },
            { title: 'Host', cell: ({ provider }) => PROVIDERS[provider] },
            {
              title: 'Address',
              kind: 'wide',
              cell: ({ base_url }) => (
                <span className={css.quiet}>
                  <Text>{base_url}</Text>
                </span>
              ),
            },
            { title: 'Credentials', cell: ({ auth }) => (auth === 'app' ? 'GitHub App' : 'token') },
            {
              title: 'Pushes',
              cell: ({ webhook_configured }) => (
                <Status tone={webhook_configured ? 'ok' : 'idle'}>
                  {webhook_configured ? 'Accepted' : 'Not set up'}
                </Status>
              ),
            },
            { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <Time at={updated_at} /> },
            {
              title: 'Actions',
              kind: 'end',
              cell: (one) => (
                <Action scope="write" kind="quiet" aria-label={`Remove ${one.name}`} onClick={() => setRemoved(one)}>
                  Remove …
                </Action>
              ),
            },
          ]}
          below={(one) =>
            one.id === search.open && (
              <>
                <Section title="Deliveries">
                  <Deliveries integration={one.id} />
                </Section>
                <Section title="Verdicts of gates">
                  <Told reports={one.reports} change={(repoUrl) => setTold({ integration: one, repoUrl })} />
                  <div className={css.gap} />
                  {one.reports.length > 0 && <Reports integration={one.id} />}
                </Section>
                <Section title="Repositories">
                  <Repositories integration={one.id} tell={(repoUrl) => setTold({ integration: one, repoUrl })} />
                </Section>
              </>
            )
          }
        />
      )}
      {told && <TellDialog {...told} onClose={() => setTold(undefined)} />}
      {adding && <AddDialog onClose={() => setAdding(false)} />}
      {removed && (
        <RemoveDialog
          name={removed.name}
          stale={['integrations', w]}
          onClose={() => setRemoved(undefined)}
          send={() =>
            answered(
              api.DELETE('/v1/integrations/{integration_id}', { params: { path: { integration_id: removed.id } } }),
            )
          }
        >
          Its credentials are forgotten. Deployments of its repositories stay, and cannot be built from them any more.
        </RemoveDialog>
      )}
    </Page>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const { w } = useParams({ from: '/o/$w' });
  const send = ({ name, provider, base_url, token, webhook_secret }: Values) => {
    const body = {
      name: name!,
      provider: provider as keyof typeof PROVIDERS,
      credentials: { token: token! },
      ...(base_url !== '' && { base_url }),
      ...(webhook_secret !== '' && { webhook_secret }),
    };
    return answered(api.POST('/v1/integrations', { body: body as never }));
  };
  return (
    <CreateDialog
      title="Add a code host"
      stale={['integrations', w]}
      send={send}
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name' },
        { name: 'provider', label: 'Host', options: PROVIDERS, first: 'github' },
        {
          name: 'base_url',
          label: 'Address',
          hint: 'Needed for Gitea and Forgejo, and for hosts of your own.',
          optional: true,
        },
        { name: 'token', label: 'Access token', kind: 'secret', hint: 'Sealed, and never shown again.' },
        {
          name: 'webhook_secret',
          label: 'Secret that the host signs its pushes with',
          kind: 'secret',
          hint: 'At least 16 characters; without it, pushes are refused.',
          optional: true,
        },
      ]}
    />
  );
}

/** The repositories that an integration sees; each can be deployed. */
function Repositories({ integration, tell }: { integration: string; tell: (repoUrl: string) => void }) {
  const { w } = useParams({ from: '/o/$w' });
  const [filter, setFilter] = useState('');
  const [chosen, setChosen] = useState<Repository>();
  const list = useQuery({
    queryKey: ['integrations', w, integration, 'repositories'],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/integrations/codehost/{integration_id}/repos', {
          params: { path: { integration_id: integration } },
          signal,
        }),
      ),
    retry: false,
  });
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton rows={3} />;
  const shown = list.data.filter(({ owner, name }) => `${owner}/${name}`.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <Filters>
        <Typed label="Filter repositories" main value={filter} onChange={setFilter} />
        <span className={css.quiet}>
          {shown.length.toLocaleString('en')} of {list.data.length.toLocaleString('en')}
        </span>
      </Filters>
      <List
        label="Repositories"
        items={shown.slice(0, MOST_REPOSITORIES)}
        keyOf={({ id }) => String(id)}
        columns={[
          { title: 'Repository', kind: 'wide', cell: ({ owner, name }) => <Text>{`${owner}/${name}`}</Text> },
          {
            title: 'Default branch',
            cell: ({ default_branch }) => (
              <code>
                <Text>{default_branch}</Text>
              </code>
            ),
          },
          {
            title: 'Actions',
            kind: 'end',
            cell: (one) => (
              <>
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Deploy this: ${one.name}`}
                  onClick={() => setChosen(one)}
                >
                  Deploy this …
                </Action>
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Verdicts for ${one.name}`}
                  onClick={() => tell(one.url)}
                >
                  Verdicts …
                </Action>
              </>
            ),
          },
        ]}
      />
      {shown.length > MOST_REPOSITORIES && <p className={css.quiet}>Filter to see the others.</p>}
      {chosen && <DeployDialog repository={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

function DeployDialog({ repository, onClose }: { repository: Repository; onClose: () => void }) {
  const { w } = useParams({ from: '/o/$w' });
  const navigate = useNavigate();
  const send = async ({ name, repo_ref, graph_config_path, pushes }: Values) => {
    const made = await answeredWhole(
      api.POST('/v2/deployments', {
        body: {
          name,
          source: 'codehost',
          source_config: {
            integration_id: repository.host_integration_id,
            repo_url: repository.url,
            build_on_push: pushes === 'yes',
          },
          source_revision_config: { repo_ref, graph_config_path },
          secrets: [],
        } as never,
      }),
    );
    // What is warned of is read before the deployment is shown.
    if (made.warning === undefined) await open(made.body as Schemas['Deployment']);
    return made;
  };
  const open = ({ id }: Schemas['Deployment']) =>
    navigate({ to: '/o/$w/host/deployments/$deployment', params: { w, deployment: id } });
  const done = ({ body, warning }: Awaited<ReturnType<typeof send>>) => (
    <>
      <p role="alert">
        <Text>{warning ?? ''}</Text>
      </p>
      <Button kind="main" onClick={() => void open(body as Schemas['Deployment'])}>
        Go to the deployment
      </Button>
    </>
  );
  return (
    <CreateDialog
      title={`Deploy ${repository.owner}/${repository.name}`}
      action="Deploy"
      stale={['deployments', w]}
      send={send}
      done={done as (answer: unknown) => ReactNode}
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name of the deployment', first: repository.name },
        { name: 'repo_ref', label: 'Branch, tag or commit', first: repository.default_branch },
        { name: 'graph_config_path', label: 'Path of the graph configuration', first: 'langgraph.json' },
        { name: 'pushes', label: 'Deploy each push to the branch', options: { no: 'No', yes: 'Yes' }, first: 'no' },
      ]}
    />
  );
}
