import { Suspense, useEffect, useMemo, useState } from 'react';
import { Button, Copy, Text } from '../../ui/parts';
import { Status } from '../../ui/status';
import { useDeployment, useHealth, useNamedRevisions, useRefresh } from './data';
import css from './deployments.module.css';
import { useLogLines } from './logs/log-lines';
import { LateLines } from './logs/late-lines';
import { hasPages, NotOpened, Open, useOpening } from './open';
import { isUnderWay, revisionTone, spoken } from './words';

interface RolloutProps {
  readonly id: string;
  readonly revision: string;
  /** Label of the button that closes it. */
  readonly action: string;
  readonly onClose: () => void;
}

/** Output of building and deploying a revision, to its end, and then its address, or the reason why it has failed. */
export function Rollout({ id, revision: revisionId, action, onClose }: RolloutProps) {
  const revision = useNamedRevisions([{ deployment: id, revision: revisionId }]).get(revisionId);
  const [follow, setFollow] = useState(true);
  const build = useLogLines({ deployment: id, revision: revisionId, phase: 'build' }, true);
  const deploy = useLogLines({ deployment: id, revision: revisionId, phase: 'deploy' }, true);
  const lines = useMemo(
    () => [...build.lines, ...deploy.lines.map((line) => ({ ...line, id: `deploy ${line.id}` }))],
    [build.lines, deploy.lines],
  );
  const isOver = revision !== undefined && !isUnderWay(revision.status);
  const refresh = useRefresh(id);
  // What is known of the deployment is of the time before.
  useEffect(() => void refresh(), [isOver]);
  return (
    <div className={css.stack}>
      <p role="status">
        <Status tone={revisionTone(revision?.status ?? 'QUEUED')} title={revision?.status}>
          {spoken(revision?.status ?? 'QUEUED')}
        </Status>
      </p>
      {lines.length > 0 && (
        <Suspense>
          <LateLines
            lines={lines}
            before={0}
            older={false}
            more={async () => undefined}
            follow={follow}
            onFollow={setFollow}
            wrap
            local={false}
          />
        </Suspense>
      )}
      {isOver && <Outcome id={id} revision={revisionId} isDeployed={revision.status === 'DEPLOYED'} />}
      <div className={css.end}>
        {!isOver && <span className={css.quiet}>It goes on when this is closed.</span>}
        <Button kind={isOver ? 'main' : 'usual'} onClick={onClose}>
          {action}
        </Button>
      </div>
    </div>
  );
}

function Outcome({ id, revision, isDeployed }: { id: string; revision: string; isDeployed: boolean }) {
  const deployment = useDeployment(id).data?.body;
  const health = useHealth(id).data;
  const opening = useOpening();
  if (!deployment || !health) return null;
  const { latest_revision: latest, detail } = health;
  if (!isDeployed) {
    const reason = latest?.id === revision ? latest.reason : undefined;
    return (
      <p role="alert" className={css.bad}>
        <Text>{reason ?? 'What runs stays as it was.'}</Text>
      </p>
    );
  }
  const { custom_url } = deployment.source_config;
  return (
    <>
      <p className={css.inline}>
        {deployment.executor === 'record' ? (
          'It is recorded: this server runs nothing.'
        ) : (
          <Text>{custom_url ?? detail}</Text>
        )}
        {custom_url && (
          <Copy kind="quiet" text={custom_url}>
            Copy
          </Copy>
        )}
        {hasPages(deployment) && <Open deployment={deployment} opening={opening} />}
      </p>
      <NotOpened id={id} opening={opening} />
    </>
  );
}
