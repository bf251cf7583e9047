import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { ApiError } from '../../api/client';
import { useProjectOf } from '../../api/project-links';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { late, lateDialog } from '../../ui/late';
import { Tabs } from '../../ui/list';
import { Copy, Named, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { Artefact } from './artefact';
import { elements, useDeployment, useHealth, useRevisions, useWorkspace } from './data';
import css from './deployments.module.css';
import { hasPages, NotOpened, Open, useOpening } from './open';
import { revisionName, type Shown } from './words';

// The tabs come when they are looked at.
const ChangeDialog = lateDialog(async () => (await import('./dialogs/change-dialog')).ChangeDialog);
const DeployDialog = lateDialog(async () => (await import('./dialogs/deploy-dialog')).DeployDialog);
const History = late(async () => (await import('./history-tab')).History);
const Logs = late(async () => (await import('./logs/logs')).Logs);
const Overview = late(async () => (await import('./overview')).Overview);
const Revisions = late(async () => (await import('./revisions')).Revisions);
const Secrets = late(async () => (await import('./secrets')).Secrets);
const Settings = late(async () => (await import('./settings')).Settings);

const TABS = {
  overview: 'Overview',
  revisions: 'Revisions',
  history: 'History',
  secrets: 'Secrets',
  logs: 'Logs',
  settings: 'Settings',
};

/** One deployment. */
export function DeploymentPage() {
  const w = useWorkspace();
  const { deployment: id } = useParams({ from: '/o/$w/host/deployments/$deployment' });
  const { search } = useAddress();
  const found = useDeployment(id);
  const revisions = useRevisions(id);
  const all = elements(revisions);
  const [open, setOpen] = useState<'change' | 'secrets' | 'deploy'>();
  const close = () => setOpen(undefined);
  const deployment = found.data?.body;
  const isGoing = deployment?.status === 'AWAITING_DELETE';
  const name = deployment?.name ?? 'Deployment';
  useTitle(name);
  const tab = search.tab ?? 'overview';
  const shown = deployment && { deployment, etag: found.data?.etag, revisions: all };
  const gone = !shown && found.error instanceof ApiError && found.error.more.isUnknown;
  if (found.error && !shown && !(gone && tab === 'history')) {
    return (
      <ErrorPage error={found.error} thing="deployment" retry={() => void found.refetch()}>
        <Link to="/o/$w/host/deployments" params={{ w }}>
          All deployments
        </Link>
        {gone && (
          <>
            {' · '}
            <Link to="." search={{ tab: 'history' }}>
              The history of what was deleted
            </Link>
          </>
        )}
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/host/deployments" params={{ w }} className={css.crumb}>
            Deployments
          </Link>{' '}
          <span className={css.slash}>/</span> <Named name={deployment?.name} kind="Deployment" />
        </>
      }
      aside={
        shown && (
          <>
            {shown.deployment.source === 'internal_source' && (
              <Action scope="write" onClick={() => setOpen('deploy')} disabled={isGoing}>
                Deploy a new version …
              </Action>
            )}
            <Action scope="write" onClick={() => setOpen('change')} disabled={isGoing}>
              Change …
            </Action>
          </>
        )
      }
    >
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      {gone && tab === 'history' && (
        <Suspense fallback={<Skeleton />}>
          <History deployment={{ id }} revisions={all} gone />
        </Suspense>
      )}
      {!shown && !found.error && <Skeleton />}
      {shown && (
        <>
          <Now {...shown} />
          <Tabs label="Parts of the deployment" tabs={TABS} current={tab} />
          {revisions.error && <Problem error={revisions.error} retry={() => void revisions.refetch()} />}
          <Suspense fallback={<Skeleton />}>
            {revisions.isPending && <Skeleton />}
            {tab === 'overview' && <Overview {...shown} />}
            {tab === 'revisions' && <Revisions {...shown} query={revisions} />}
            {tab === 'history' && <History {...shown} />}
            {tab === 'secrets' && <Secrets {...shown} onChange={() => setOpen('secrets')} />}
            {tab === 'logs' && all.length > 0 && <Logs {...shown} />}
            {tab === 'logs' && revisions.isSuccess && all.length === 0 && (
              <p>There are no logs before the first revision.</p>
            )}
            {tab === 'settings' && <Settings {...shown} />}
          </Suspense>
          <Suspense>
            {open === 'change' && <ChangeDialog {...shown} onClose={close} />}
            {open === 'secrets' && <ChangeDialog {...shown} secretsOnly onClose={close} />}
            {open === 'deploy' && <DeployDialog deployment={shown.deployment} onClose={close} />}
          </Suspense>
        </>
      )}
    </Page>
  );
}

/** A link to the traces of a deployment; the place is kept while there are none. */
function TracesLink({ deployment }: Pick<Shown, 'deployment'>) {
  const w = useWorkspace();
  const project = useProjectOf(w, deployment);
  if (!project) return <span className={css.faint}>{project === null ? 'no traces' : 'Traces'}</span>;
  return (
    <Link to="/o/$w/projects/p/$session" params={{ w, session: project.id }}>
      Traces
    </Link>
  );
}

/** The deployment in one sentence, and the revisions that it speaks of. */
function Now({ deployment, revisions }: Shown) {
  const { id, status, source_config, executor } = deployment;
  const { live, latest, ...told } = deployment.standing!;
  // A look at what runs says more than what was reported last.
  const { text, tone } = useHealth(id, deployment.updated_at).data?.standing ?? told;
  const opening = useOpening();
  const whole = (one: typeof live) => revisions.find(({ id }) => id === one?.id) ?? one;
  return (
    <div className={css.now}>
      <Status wraps tone={tone} title={status}>
        {text}
      </Status>
      {executor === 'record' && <span className={css.faint}>recorded, nothing is run</span>}
      {live && <Artefact of={whole(live)!} />}
      {latest && latest.id !== live?.id && (
        <span>
          <span className={css.faint}>latest</span> {revisionName(latest)} <Artefact of={whole(latest)!} />
        </span>
      )}
      {source_config.custom_url && (
        <span className={css.inline}>
          <Text>{source_config.custom_url}</Text>
          <Copy kind="quiet" text={source_config.custom_url}>
            Copy
          </Copy>
          {hasPages(deployment) && <Open deployment={deployment} opening={opening} />}
        </span>
      )}
      <TracesLink deployment={deployment} />
      <NotOpened id={id} opening={opening} />
    </div>
  );
}
