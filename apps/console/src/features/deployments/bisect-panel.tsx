import { useEffect } from 'react';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { Pick } from '../../ui/form';
import { Button, Copy, Problem, Skeleton, Text } from '../../ui/parts';
import { type Bisection, bisect, numberIn, numbersIn, runsAs } from './bisect';
import { useDifference, type useRevisions } from './data';
import css from './deployments.module.css';
import { Artefact } from './artefact';
import { Figures } from './scores/figures-table';
import { useScores } from './scores/scores';
import { causeOf, makerOf, type Revision, revisionName, type Shown } from './words';

type PanelProps = Shown & {
  readonly query: ReturnType<typeof useRevisions>;
  readonly onRollBack: (revision: Revision) => void;
};

/** Finds the first bad revision by halves; how far it is stands in the address. */
export function BisectPanel({ deployment, revisions, query, onRollBack }: PanelProps) {
  const { search, change } = useAddress();
  const [good, bad, skipped] = [numberIn(search.good), numberIn(search.bad), numbersIn(search.skip)];
  const older = Math.min(good ?? Infinity, bad ?? Infinity);
  const loaded = revisions.at(-1)?.number ?? 1;
  // An address can name revisions that are older than those that the page has shown yet.
  const reading = older < loaded && query.hasNextPage && !query.isFetchNextPageError;
  useEffect(() => {
    if (reading && !query.isFetchingNextPage) void query.fetchNextPage();
  }, [reading, query.isFetchingNextPage]);
  const found = bisect(revisions, good, bad, skipped);
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  const scores = useScores(revisions);
  const [first, last] = [good, bad].map((known) => revisions.find(({ number }) => number === known));
  const judge = (changed: object) => change({ ...changed, diff: undefined });
  const choices = (none: string) => ({
    '': none,
    ...Object.fromEntries(revisions.map((one) => [revisionName(one), title(one)])),
  });
  return (
    <section className={css.bisect} aria-label="Bisect">
      <div className={css.inline}>
        <h2>Which revision broke it?</h2>
        <span className={css.judged}>
          <span className={css.quiet}>good</span>
          <Pick
            label="Known good"
            value={search.good ?? ''}
            onChange={(value) => judge({ good: value || undefined, skip: undefined })}
            options={choices('Last one known to be good')}
          />
        </span>
        <span className={css.judged}>
          <span className={css.quiet}>bad</span>
          <Pick
            label="Known bad"
            value={search.bad ?? ''}
            onChange={(value) => judge({ bad: value || undefined, skip: undefined })}
            options={choices('First one known to be bad')}
          />
        </span>
        <span className={css.end}>
          {found && <Copy text={window.location.href}>Copy link</Copy>}
          <Button kind="quiet" onClick={() => judge({ good: undefined, bad: undefined, skip: undefined })}>
            End
          </Button>
        </span>
      </div>
      <div role="status">
        {!found && good !== undefined && bad !== undefined && good >= bad && (
          <p className={css.bad}>The good revision has to be older than the bad one.</p>
        )}
        {!found && !reading && good !== undefined && bad !== undefined && good < bad && (
          <p className={css.bad}>
            There is no {revisions.some(({ number }) => number === good) ? search.bad : search.good} among these
            revisions.
          </p>
        )}
        {found?.next && (
          <p className={css.quiet}>
            {revisionName({ id: '', number: good })} is good, {revisionName({ id: '', number: bad })} is bad.{' '}
            {found.steps === 1 ? '1 step' : `At most ${found.steps} steps`} left.
          </p>
        )}
      </div>
      {found?.next && (
        <div className={css.attempt}>
          <div>
            <b>Try {revisionName(found.next)}</b> <Artefact of={found.next} />
            {found.next.reason && (
              <p className={css.quiet}>
                <Text>{found.next.reason}</Text>
              </p>
            )}
            {runsAs(live, found.next) && <p className={css.running}>It is what runs now. Is it good?</p>}
          </div>
          <Figures
            of={[
              { ...first!, part: 'good' },
              { ...found.next, part: 'to try' },
              { ...last!, part: 'bad' },
            ]}
            scores={scores}
          />
          <div className={css.inline}>
            {!runsAs(live, found.next) && (
              <Action scope="write" onClick={() => onRollBack(found.next!)}>
                Roll back to {revisionName(found.next)} …
              </Action>
            )}
            <Button onClick={() => judge({ good: revisionName(found.next!) })}>Good</Button>
            <Button onClick={() => judge({ bad: revisionName(found.next!) })}>Bad</Button>
            <Button
              kind="quiet"
              onClick={() => judge({ skip: [...skipped, found.next!.number].map((one) => `v${one}`).join() })}
            >
              Skip
            </Button>
          </div>
        </div>
      )}
      {found && !found.next && <Found deployment={deployment.id} found={found} good={first!} scores={scores} />}
    </section>
  );
}

function title(revision: Revision): string {
  return [revisionName(revision), revision.reason?.slice(0, 48)].filter(Boolean).join(' · ');
}

interface FoundProps {
  readonly deployment: string;
  readonly found: Bisection<Revision>;
  readonly good: Revision;
  readonly scores: ReturnType<typeof useScores>;
}

/** The first bad revision, and what it changed since the last good one. */
function Found({ deployment, found, good, scores }: FoundProps) {
  const [first] = found.suspects;
  const last = found.suspects.at(-1)!;
  const difference = useDifference(deployment, good.id, last.id);
  return (
    <div className={css.attempt}>
      <div>
        {first === last ? (
          <p>
            <b>{revisionName(last)} is the first bad revision.</b>{' '}
            <span className={css.quiet}>
              <Text>{makerOf(last)}</Text> made it{causeOf(last) ? ': ' : '.'}
              {causeOf(last) && <Text>{causeOf(last)!}</Text>}
            </span>
          </p>
        ) : (
          <p>
            <b>The first bad revision is one of {found.suspects.map((one) => revisionName(one)).join(', ')}.</b>{' '}
            <span className={css.quiet}>The others could not be judged.</span>
          </p>
        )}
      </div>
      <Figures
        of={[
          { ...good, part: 'good' },
          { ...last, part: 'bad' },
        ]}
        scores={scores}
      />
      <h3>
        What changed from {revisionName(good)} to {revisionName(last)}
      </h3>
      {difference.error && <Problem error={difference.error} />}
      {!difference.data && !difference.error && <Skeleton rows={2} />}
      {difference.data && (
        <Changes changes={difference.data.changes} none="They deploy the same with the same settings." />
      )}
    </div>
  );
}
