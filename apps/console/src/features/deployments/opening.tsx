import { Suspense, useState } from 'react';
import { Action } from '../../ui/action';
import { lateDialog } from '../../ui/late';
import { Facts } from '../../ui/list';
import { Text, Time } from '../../ui/parts';
import css from './deployments.module.css';
import { Artefact } from './artefact';
import {
  causeOf,
  EVENT_TITLES,
  type HistoryEntry,
  lastHealthy,
  makerOf,
  type Revision,
  revisionName,
  type Shown,
  titleOf,
} from './words';

const RollBackDialog = lateDialog(async () => (await import('./plans')).RollBackDialog);

/** Events that are nobody's change of the deployment. */
const NO_CHANGES = [
  'RevisionHeld',
  'SecretsRead',
  'CommandStarted',
  'CommandEnded',
  'UploadPathIssued',
  'DeploymentStatusReported',
];
const STEPS = ['RevisionStatusChanged', 'RevisionActivated', 'RevisionCommitResolved', 'DeploymentProvisioned'];
const CHANGES = EVENT_TITLES.map(([type]) => type).filter((type) => ![...NO_CHANGES, ...STEPS].includes(type));

/** The running revision and its age, the last change and its author, and the way back to a revision that ran well. */
export function Opening({ deployment, revisions, entries }: Shown & { entries: readonly HistoryEntry[] }) {
  const [planned, setPlanned] = useState<Revision>();
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  const last = entries.find(({ type }) => CHANGES.includes(type));
  const good = lastHealthy(deployment, revisions);
  const runs = live && (
    <span className={css.inline}>
      {revisionName(live)} <Artefact of={live} />
      {live.activated_at && (
        <span>
          <span className={css.faint}>since</span> <Time at={live.activated_at} />
        </span>
      )}
      <Said by={live} />
    </span>
  );
  const changed = last && (
    <span className={css.inline}>
      {titleOf(last)} <Time at={last.time} /> <Said by={last} />
    </span>
  );
  const healthy = good && (
    <span className={css.inline}>
      {revisionName(good)} <Artefact of={good} />
      {good.id === live?.id ? (
        <span className={css.quiet}>which runs</span>
      ) : (
        <Action scope="write" onClick={() => setPlanned(good)} disabled={deployment.status === 'AWAITING_DELETE'}>
          Back to {revisionName(good)} …
        </Action>
      )}
    </span>
  );
  return (
    <div className={css.opening}>
      <Facts facts={{ Runs: runs, 'Changed last': changed, 'Healthy for an hour': healthy ?? (live && 'none yet') }} />
      <Suspense>
        {planned && (
          <RollBackDialog
            deployment={deployment}
            revisions={revisions}
            revision={planned}
            onClose={() => setPlanned(undefined)}
          />
        )}
      </Suspense>
    </div>
  );
}

function Said({ by }: { by: Revision | HistoryEntry }) {
  const cause = causeOf(by);
  return (
    <span>
      <span className={css.faint}>by</span> <Text>{makerOf(by)}</Text>
      {cause && (
        <>
          {' '}
          <q>
            <Text>{cause}</Text>
          </q>
        </>
      )}
    </span>
  );
}
