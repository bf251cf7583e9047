import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Action } from '../../ui/action';
import { merged, useAddress } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { late } from '../../ui/late';
import { Pick } from '../../ui/form';
import { List, More, Nothing } from '../../ui/list';
import { Button, Problem, Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import { Commits } from './commits';
import { useDifference, useHealth, type useRevisions } from './data';
import css from './deployments.module.css';
import { Artefact } from './artefact';
import { InterruptDialog, RollBackDialog } from './plans';
import { Reason } from './reason';
import { RunsCell, ScoresCell } from './scores/cells';
import { useScores } from './scores/scores';
import {
  causeOf,
  hasRun,
  isUnderWay,
  makerOf,
  type Revision,
  revisionName,
  revisionState,
  type Shown,
  withNames,
} from './words';

const BisectPanel = late(async () => (await import('./bisect-panel')).BisectPanel);
const SourceDifference = late(async () => (await import('./source-difference')).SourceDifference);

/** The revisions of a deployment: what they deploy, who made them and why, and what became of them. */
export function Revisions({ deployment, revisions, query }: Shown & { query: ReturnType<typeof useRevisions> }) {
  const { search, change } = useAddress();
  const { w } = useParams({ from: '/o/$w' });
  const latestHealth = useHealth(deployment.id, deployment.updated_at).data?.latest_revision;
  const scores = useScores(revisions);
  const [planned, setPlanned] = useState<Revision>();
  const [interrupted, setInterrupted] = useState<Revision>();
  const names = new Map(revisions.map((revision) => [revision.id, revisionName(revision)]));
  if (query.isSuccess && revisions.length === 0) {
    return (
      <Nothing title="No revision yet">
        <p>The first one is made when there is something to deploy: an image, a branch or an upload.</p>
      </Nothing>
    );
  }
  const latest = revisions[0];
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  const again = (revision: Revision): keyof typeof AGAIN => {
    if (revision.id === deployment.latest_revision_id) return 'Redeploy';
    return hasRun(revision, live) ? 'Roll back to' : 'Try again';
  };
  const bisecting = search.good !== undefined || search.bad !== undefined;
  return (
    <>
      {bisecting ? (
        <Suspense fallback={<Skeleton rows={2} />}>
          <BisectPanel deployment={deployment} revisions={revisions} query={query} onRollBack={setPlanned} />
        </Suspense>
      ) : (
        revisions.length > 2 && (
          <div className={css.tools}>
            <Button onClick={() => change({ bad: revisionName(latest!) })}>Bisect: which one broke it?</Button>
          </div>
        )
      )}
      {scores.error && <Problem error={scores.error} retry={scores.refetch} reading="read experiments" />}
      <List
        label="Revisions"
        items={revisions}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Revision',
            kind: 'name',
            cell: (revision) => (
              <span className={css.judged}>
                {revisionName(revision)}
                {bisecting && <Judged name={revisionName(revision)} good={search.good} bad={search.bad} />}
              </span>
            ),
          },
          {
            title: 'Status',
            cell: (revision) => {
              const { word, tone } = revisionState(revision, live, deployment);
              return (
                <Status tone={tone} title={revision.status}>
                  {word}
                </Status>
              );
            },
          },
          { title: 'Deploys', cell: (revision) => <Artefact of={revision} /> },
          {
            title: 'Why',
            kind: 'wide',
            cell: (revision) => {
              const { id, reason, redeployed_from, push } = revision;
              const cause = causeOf(revision);
              const ended = latestHealth?.id === id ? latestHealth.reason : undefined;
              return (
                <>
                  {cause && <Text title={reason ?? undefined}>{cause}</Text>}
                  {push && (
                    <span className={css.quiet}>
                      {' '}
                      {push.author && push.author !== push.pusher && <Text>{`by ${push.author}`}</Text>}{' '}
                      <Link
                        to="/o/$w/integrations"
                        params={{ w }}
                        search={{ open: deployment.source_config.integration_id ?? undefined } as never}
                      >
                        delivery
                      </Link>
                    </span>
                  )}
                  {redeployed_from && (
                    <span className={css.quiet}>
                      {' '}
                      <span aria-hidden="true">↩ </span>again {names.get(redeployed_from) ?? 'an earlier one'}
                    </span>
                  )}
                  {ended && (
                    <div className={css.quiet}>
                      <Reason text={withNames(ended, revisions)} />
                    </div>
                  )}
                </>
              );
            },
          },
          {
            title: 'Made',
            cell: (revision) => (
              <span className={css.made}>
                <Text>{makerOf(revision)}</Text> <Time at={revision.created_at} />
              </span>
            ),
          },
          {
            title: 'Scores',
            about: 'Means over the experiments that name the revision, or over its live runs',
            cell: (revision) => <ScoresCell revision={revision} scores={scores.of.get(revision.id)} />,
          },
          {
            title: 'Runs',
            about: 'Median latency, errors, and the mean use of its live runs, or of its experiments',
            cell: (revision) => <RunsCell revision={revision} scores={scores.of.get(revision.id)} />,
          },
          {
            title: 'Actions',
            kind: 'end',
            cell: (revision) => (
              <span className={css.actions}>
                <Link
                  to="."
                  search={(() => ({ tab: 'logs', revision: revision.id, log: logOf(revision.status) })) as never}
                  aria-label={`Logs of ${revisionName(revision)}`}
                >
                  Logs
                </Link>
                <Link
                  to="."
                  search={merged({ diff: search.diff === revision.id ? undefined : revision.id, with: undefined })}
                  resetScroll={false}
                  aria-label={`Diff of ${revisionName(revision)}`}
                >
                  Diff
                </Link>
                {isUnderWay(revision.status) ? (
                  <Action scope="write" kind="quiet" onClick={() => setInterrupted(revision)}>
                    Interrupt
                  </Action>
                ) : (
                  <Action
                    scope="write"
                    kind="quiet"
                    onClick={() => setPlanned(revision)}
                    aria-label={`${again(revision)} ${revisionName(revision)}`}
                  >
                    {AGAIN[again(revision)]}
                  </Action>
                )}
              </span>
            ),
          },
        ]}
        below={(revision) =>
          revision.id === search.diff && (
            <Difference
              deployment={deployment.id}
              revision={revision}
              revisions={revisions}
              other={search.with}
              onOther={(other) => change({ with: other })}
            />
          )
        }
      />
      <More query={query} />
      {planned && (
        <RollBackDialog
          deployment={deployment}
          revisions={revisions}
          revision={planned}
          onClose={() => setPlanned(undefined)}
        />
      )}
      {interrupted && (
        <InterruptDialog deployment={deployment} revision={interrupted} onClose={() => setInterrupted(undefined)} />
      )}
    </>
  );
}

/** Actions that deploy a revision again. One that has never run well is no place to go back to. */
const AGAIN = { Redeploy: 'Redeploy …', 'Roll back to': 'Roll back …', 'Try again': 'Try again …' };

/** Says which revisions a bisection began with. */
function Judged({ name, good, bad }: { name: string; good?: string; bad?: string }) {
  if (name === good) return <span className={css.good}>good</span>;
  return name === bad ? <span className={css.wrong}>bad</span> : null;
}

/** Which log tells of a revision in this status. */
function logOf(status: string): string | undefined {
  return /BUILD/.test(status) ? 'build' : undefined;
}

interface DifferenceProps {
  readonly deployment: string;
  readonly revision: Revision;
  readonly revisions: readonly Revision[];
  readonly other?: string;
  readonly onOther: (id: string) => void;
}

const TARBALL = '.source_tarball_path';

/** Changes of a revision against another one: the one before it unless another is chosen. */
function Difference({ deployment, revision, revisions, other, onOther }: DifferenceProps) {
  const before = revisions[revisions.indexOf(revision) + 1];
  const from = other ?? before?.id;
  const difference = useDifference(deployment, from, revision.id);
  if (from === undefined) return <p className={css.quiet}>This is the first revision: nothing stands before it.</p>;
  const [source, earlier] = [revision, revisions.find(({ id }) => id === from)].map(
    (one) => one?.source_revision_config.source_tarball_path,
  );
  const haveSources = source && earlier && source !== earlier;
  const [commit, earlierCommit] = [revision, revisions.find(({ id }) => id === from)].map(
    (one) => one?.source_revision_config.repo_commit_sha,
  );
  const haveCommits = commit && earlierCommit && commit !== earlierCommit;
  // The files say more than the paths of two archives.
  const settings = difference.data?.changes.filter(({ member }) => !haveSources || !member.endsWith(TARBALL));
  const options = Object.fromEntries(
    revisions.filter(({ id }) => id !== revision.id).map((one) => [one.id, `from ${revisionName(one)}`]),
  );
  return (
    <div className={css.difference}>
      <div className={css.inline}>
        <span className={css.faint}>What {revisionName(revision)} changed</span>
        <Pick label="Compared with" value={from} onChange={onOther} options={options} />
        <Button kind="quiet" onClick={() => onOther(before?.id ?? from)}>
          The one before
        </Button>
      </div>
      {difference.error && <Problem error={difference.error} />}
      {!difference.data && !difference.error && <Skeleton rows={2} />}
      {settings && (!haveSources || settings.length > 0) && (
        <Changes changes={settings} none="They deploy the same with the same settings." />
      )}
      {haveCommits && <Commits deployment={deployment} from={from} to={revision.id} />}
      {haveSources && (
        <Suspense fallback={<Skeleton rows={3} />}>
          <SourceDifference deployment={deployment} from={from} to={revision.id} />
        </Suspense>
      )}
    </div>
  );
}
