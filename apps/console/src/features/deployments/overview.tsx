import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import type { Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { late, lateDialog } from '../../ui/late';
import { List, Section } from '../../ui/list';
import { Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import { elements, useHealth, useHistory } from './data';
import css from './deployments.module.css';
import { FirstErrors } from './logs/first-errors';
import { Artefact } from './artefact';
import type { LogChoice } from './logs/log-lines';
import { Opening } from './opening';
import type { Control } from './plans';
import { Reason } from './reason';
import { OverRevisions } from './scores/over-revisions';
import { TimeTravel } from './time-travel';
import { HeldVerdict } from './verdict';
import {
  besideState,
  causeOf,
  type Deployment,
  healthTone,
  makerOf,
  type Revision,
  revisionName,
  revisionState,
  revisionTone,
  type Shown,
  spoken,
  withNames,
} from './words';

type Health = Schemas['DeploymentHealth'];
type Process = Schemas['ProcessHealth'];

const ControlDialog = lateDialog(async () => (await import('./plans')).ControlDialog);
const Metrics = late(async () => (await import('./metrics')).Metrics);

const RECENT = 5;
/** Executors that can stop and start what they have deployed. */
const CONTROLLING = ['kubernetes', 'local'];

/** The running program, the latest events, and the state at any earlier time. */
export function Overview({ deployment, revisions }: Shown) {
  const history = useHistory(deployment.id);
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  return (
    <>
      {history.isPending ? (
        <Skeleton rows={3} />
      ) : (
        <Opening deployment={deployment} revisions={revisions} entries={elements(history)} />
      )}
      <HealthSection deployment={deployment} revisions={revisions} />
      <Suspense fallback={<Skeleton rows={4} />}>
        <Metrics deployment={deployment} revisions={revisions} />
      </Suspense>
      <TimeTravel deployment={deployment} entries={elements(history)} query={history} revisions={revisions} />
      <Section
        title="Revisions"
        aside={
          <Link to="." search={(() => ({ tab: 'revisions' })) as never}>
            All
          </Link>
        }
      >
        {revisions.length === 0 ? (
          <p className={css.quiet}>The first one is made when there is something to deploy.</p>
        ) : (
          <ol className={css.recent}>
            {revisions.slice(0, RECENT).map((revision) => (
              <Recent key={revision.id} revision={revision} live={live} deployment={deployment} />
            ))}
          </ol>
        )}
        {!history.data && !history.error && <Skeleton rows={2} />}
      </Section>
      {revisions.length > 0 && <OverRevisions revisions={revisions} />}
    </>
  );
}

/** Health of the program, as the executor knows it, and the reason why the latest revision has failed or waits. */
function HealthSection({ deployment, revisions }: Shown) {
  const { data, isPending } = useHealth(deployment.id, deployment.updated_at);
  if (isPending) return <Skeleton rows={3} />;
  if (!data) return null;
  const { state, detail, latest_revision: latest, processes } = data;
  const isTakenBack = latest?.status === 'DEPLOYED' && latest.id !== data.active_revision_id;
  const reason = latest?.reason;
  const failed = failedLog(deployment, data, isTakenBack);
  // The reason stands on a line of its own.
  const whole = reason && detail !== reason ? detail.replace(reason, '').trim() : detail;
  return (
    <Section title="Health" aside={<Controls deployment={deployment} />}>
      <div className={css.stack}>
        <p className={css.inline}>
          <Status tone={healthTone(state)} title={state}>
            {spoken(state)}
          </Status>
          <Text>{withNames(besideState(whole, state), revisions)}</Text>
        </p>
        {latest && reason && detail !== reason && (
          <p className={css.inline}>
            <Status tone={isTakenBack ? 'bad' : revisionTone(latest.status)} title={latest.status}>
              {`Latest revision: ${isTakenBack ? 'Taken back' : spoken(latest.status)}`}
            </Status>
            <Reason text={withNames(reason, revisions)} />
          </p>
        )}
        {latest?.status === 'AWAITING_DEPLOY' && (
          <HeldVerdict deployment={deployment} revision={latest.id} preview={latest.preview} />
        )}
        {failed && <FirstErrors choice={failed} />}
        {processes.length > 0 && (
          <List
            label="Processes"
            items={processes}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Process', kind: 'name', cell: ({ name }) => <Text>{name}</Text> },
              { title: 'State', cell: ({ state }) => <Status tone={healthTone(state)}>{spoken(state)}</Status> },
              { title: 'Memory', cell: ({ memory_bytes: m }) => (m === null ? '–' : `${Math.round(m / 1e6)} MB`) },
              { title: 'Cores', cell: ({ cpu_cores: c }) => c?.toFixed(2) ?? '–' },
              { title: 'Restarts', cell: ({ restarts }) => restarts },
              { title: 'Last error', cell: (one) => <Text>{errorOf(one)}</Text> },
              { title: 'Started', kind: 'number', cell: ({ started_at }) => started_at && <Time at={started_at} /> },
            ]}
          />
        )}
      </div>
    </Section>
  );
}

/** The log that says why something of a deployment fails; undefined while nothing does. */
function failedLog({ id, executor }: Deployment, health: Health, isTakenBack: boolean): LogChoice | undefined {
  const { latest_revision: latest, standing } = health;
  if (standing.tone !== 'bad') return undefined;
  const hasFailed = latest?.status.endsWith('_FAILED');
  if (executor === 'local' && !hasFailed) return { deployment: id, phase: 'run' };
  if (!latest || !(hasFailed || isTakenBack)) return undefined;
  return { deployment: id, revision: latest.id, phase: latest.status === 'BUILD_FAILED' ? 'build' : 'deploy' };
}

/** Stops, starts and restarts what runs, where the executor can do that. */
function Controls({ deployment }: { deployment: Deployment }) {
  const [action, setAction] = useState<Control>();
  const { executor, status, stopped } = deployment;
  if (!CONTROLLING.includes(executor ?? '') || status === 'AWAITING_DELETE') return null;
  // What is UNKNOWN may not have stopped.
  const whenStopped: readonly Control[] = status === 'UNKNOWN' ? ['Start', 'Stop'] : ['Start'];
  const actions: readonly Control[] = stopped ? whenStopped : ['Restart', 'Stop'];
  return (
    <>
      {actions.map((one) => (
        <Action key={one} scope="write" onClick={() => setAction(one)}>
          {one} …
        </Action>
      ))}
      <Suspense>
        {action && <ControlDialog deployment={deployment} action={action} onClose={() => setAction(undefined)} />}
      </Suspense>
    </>
  );
}

/** Error with which a process ended last. */
function errorOf({ state, reason, last_error }: Process): string {
  return reason ? besideState(reason, state) : (last_error ?? '–');
}

function Recent({ revision, live, deployment }: { revision: Revision; live?: Revision; deployment: Deployment }) {
  const { word, tone } = revisionState(revision, live, deployment);
  const cause = causeOf(revision);
  return (
    <li>
      <span className={css.version}>{revisionName(revision)}</span>
      <Status tone={tone} title={revision.status}>
        {word}
      </Status>
      <Artefact of={revision} />
      <span className={css.reason}>{cause && <Text>{cause}</Text>}</span>
      <span className={css.by}>
        <Text>{makerOf(revision)}</Text>
      </span>
      <span className={css.when}>
        <Time at={revision.created_at} />
      </span>
    </li>
  );
}
