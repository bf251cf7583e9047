import { Suspense, useState } from 'react';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { ColumnsButton } from '../../ui/columns/list-columns';
import { DemoOffer } from '../../ui/demo-offer';
import { lateDialog } from '../../ui/late';
import { Filters, Pick, Typed } from '../../ui/form';
import { List, Nothing, Pager } from '../../ui/list';
import { Button, Copy, Page, Problem, Skeleton, useTitle } from '../../ui/parts';
import { SavedViews } from '../../ui/views/saved-views';
import { FILTERS, PAGE, useDeployments } from './data';
import css from './deployments.module.css';
import type { Kind } from './dialogs/new-dialog';
import { useColumns } from './list-columns';
import { NotOpened, useOpening } from './open';
import { NOT_DEPLOYED } from './words';

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
  const opening = useOpening();
  const columns = useColumns(items ?? [], opening);
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
        <SavedViews page="deployments" />
        <ColumnsButton list="deployments" columns={columns} />
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
      {items && items.length > 0 && (
        <List
          name="deployments"
          label="Deployments"
          items={items}
          old={list.isPlaceholderData}
          keyOf={({ id }) => id}
          columns={columns}
          below={({ id }) => opening.failed?.id === id && <NotOpened id={id} opening={opening} />}
        />
      )}
      {items && <Pager shown={items.length} limit={PAGE} more={list.data!.more} total={list.data!.body.total} />}
      <Suspense>
        {deploying === 'folder' && <DeployDialog onClose={close} />}
        {deploying !== undefined && deploying !== 'folder' && <NewDialog kind={deploying} onClose={close} />}
      </Suspense>
    </Page>
  );
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
