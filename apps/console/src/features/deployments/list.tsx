import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { DemoOffer } from '../../ui/demo-offer';
import { lateDialog } from '../../ui/late';
import { Filters, Pick, Typed } from '../../ui/form';
import { middle } from '../../ui/format';
import { List, Nothing, Pager } from '../../ui/list';
import { Button, Copy, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { FILTERS, PAGE, useDeployments, useWorkspace } from './data';
import css from './deployments.module.css';
import type { Kind } from './dialogs/new-dialog';
import { hasPages, NotOpened, Open, useOpening } from './open';
import { artefact, type Deploying, type Deployment, NOT_DEPLOYED, revisionName, SOURCES } from './words';

const NewDialog = lateDialog(async () => (await import('./dialogs/new-dialog')).NewDialog);
const DeployDialog = lateDialog(async () => (await import('./dialogs/deploy-dialog')).DeployDialog);

const STATUSES = {
  '': 'Any status',
  READY: 'Ready',
  AWAITING_DATABASE: NOT_DEPLOYED,
  UNUSED: 'Unused',
  UNKNOWN: 'Unknown',
  AWAITING_DELETE: 'Awaiting delete',
};
const TYPES = { '': 'Any type', prod: 'Production', dev: 'Development', dev_free: 'Development, free' };
const RECONCILED = { '': 'With or without listener', true: 'With a listener', false: 'Without a listener' };
const MORE = {
  image_version: 'Image tag',
  agent_id: 'Agent',
  agent_environment: 'Environment',
  name: 'Exact name',
  tag_value_ids: 'Tag value ids',
  deployment_ids: 'Deployment ids',
};

/** All deployments; the filters are the parameters of the API. */
export function DeploymentsPage() {
  useTitle('Deployments');
  const { search, change } = useAddress();
  const list = useDeployments(search);
  const items = list.data?.body.resources;
  const filtered = FILTERS.some((name) => search[name]);
  const filter = (name: string, how?: 'replace') => (value: string) =>
    change({ [name]: value || undefined, offset: undefined }, how);
  const given = Object.keys(MORE).filter((name) => search[name]);
  const drop = () => change(Object.fromEntries([...FILTERS, 'offset'].map((name) => [name, undefined])));
  const [deploying, setDeploying] = useState<'folder' | Kind>();
  const close = () => setDeploying(undefined);
  return (
    <Page
      title="Deployments"
      aside={
        <>
          <Action scope="write" onClick={() => setDeploying('folder')}>
            Deploy a folder …
          </Action>
          <Action scope="write" onClick={() => setDeploying('image')}>
            An image …
          </Action>
          <Action scope="write" onClick={() => setDeploying('repository')}>
            A repository …
          </Action>
        </>
      }
    >
      <Filters>
        <Typed
          label="Name contains"
          main
          value={search.name_contains ?? ''}
          onChange={filter('name_contains', 'replace')}
        />
        <Pick label="Status" value={search.status ?? ''} onChange={filter('status')} options={STATUSES} />
        <Pick label="Type" value={search.deployment_type ?? ''} onChange={filter('deployment_type')} options={TYPES} />
        <details className={css.more} open={given.length > 0 || undefined}>
          <summary>More filters{given.length > 0 && ` (${given.length})`}</summary>
          <div>
            <Pick
              label="Listener"
              value={search.remote_reconciled ?? ''}
              onChange={filter('remote_reconciled')}
              options={RECONCILED}
            />
            {Object.entries(MORE).map(([name, label]) => (
              <Typed key={name} label={label} value={search[name] ?? ''} onChange={filter(name, 'replace')} />
            ))}
          </div>
        </details>
        {filtered && (
          <Button kind="quiet" onClick={drop}>
            Drop all filters
          </Button>
        )}
      </Filters>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!items && !list.error && <Skeleton />}
      {items?.length === 0 &&
        (filtered ? <Nothing title="No deployment passes these filters." /> : <FirstDeployment />)}
      {items && items.length > 0 && <Deployments items={items} old={list.isPlaceholderData} />}
      {items && <Pager shown={items.length} limit={PAGE} more={list.data!.more} total={list.data!.body.total} />}
      <Suspense>
        {deploying === 'folder' && <DeployDialog onClose={close} />}
        {deploying !== undefined && deploying !== 'folder' && <NewDialog kind={deploying} onClose={close} />}
      </Suspense>
    </Page>
  );
}

function Deployments({ items, old }: { items: readonly Deployment[]; old: boolean }) {
  const w = useWorkspace();
  const opening = useOpening();
  const actions = {
    title: 'Actions',
    kind: 'end',
    cell: (one: Deployment) => hasPages(one) && <Open kind="quiet" deployment={one} opening={opening} />,
  } as const;
  return (
    <List
      label="Deployments"
      items={items}
      old={old}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          kind: 'name',
          cell: ({ id, name }) => (
            <Link to="/o/$w/host/deployments/$deployment" params={{ w, deployment: id }} title={name}>
              <Text>{middle(name, 56)}</Text>
            </Link>
          ),
        },
        {
          title: 'Status',
          cell: ({ standing, status, executor }) => (
            <Status wraps tone={standing!.tone} title={status}>
              {`${standing!.text}${executor === 'record' ? ', recorded' : ''}`}
            </Status>
          ),
        },
        { title: 'Live', cell: ({ standing }) => <Which revision={standing!.live} /> },
        { title: 'Latest revision', cell: ({ standing }) => <Which revision={standing!.latest} /> },
        {
          title: 'From',
          cell: ({ source, source_config }) => (
            <span className={css.quiet} title={source_config.repo_url ?? undefined}>
              {source_config.repo_url ? <Text>{repository(source_config.repo_url)}</Text> : SOURCES[source]}
            </span>
          ),
        },
        {
          title: 'Type',
          cell: ({ source_config: { deployment_type }, agent }) => (
            <span className={css.quiet}>
              {[deployment_type, agent && `${agent.agent_id} in ${agent.environment}`].filter(Boolean).map((text) => (
                <Text key={text}>{middle(text!, 32)}</Text>
              ))}
            </span>
          ),
        },
        { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ...(items.some(hasPages) ? [actions] : []),
      ]}
      below={({ id }) => opening.failed?.id === id && <NotOpened id={id} opening={opening} />}
    />
  );
}

/** A revision that a sentence speaks of, by its number and its artefact. */
function Which({ revision }: { revision: NonNullable<Deployment['standing']>['live'] }) {
  if (!revision) return <span className={css.faint}>none yet</span>;
  return (
    <span className={css.inline}>
      {revisionName(revision)} <Artefact of={revision} />
    </span>
  );
}

/** Artefact that a revision deploys. */
export function Artefact({ of }: { of: Deploying }) {
  const { short, full } = artefact(of);
  return (
    <span className={css.artefact} title={full}>
      <Text>{short}</Text>
    </span>
  );
}

function repository(url: string): string {
  return middle(url.replace(/^https?:\/\/[^/]+\//, '').replace(/\.git$/, ''), 36);
}

function FirstDeployment() {
  const body = {
    name: 'first-agent',
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.com/first-agent:1.0.0' },
    secrets: [],
  };
  const command = [
    `curl -sS ${window.location.origin}/v2/deployments \\`,
    `  -H "x-api-key: $FAIRLEAD_KEY" -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
  return (
    <Nothing title="No deployment yet">
      <p>
        A deployment runs an image, a repository or an uploaded source, and keeps each revision of it. Deploy a folder
        with the button above, or an image with the command:
      </p>
      <pre className={css.command} tabIndex={0}>
        {command}
      </pre>
      <Copy text={command}>Copy</Copy>
      <DemoOffer />
    </Nothing>
  );
}
