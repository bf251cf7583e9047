import { Link } from '@tanstack/react-router';
import { Section } from '../../ui/list';
import { Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import { elements, useHistory } from './data';
import css from './deployments.module.css';
import { Artefact } from './list';
import type { Shown } from './pages';
import { TimeTravel } from './time-travel';
import { actorOf, type Revision, revisionName, revisionTone, spoken } from './words';

const RECENT = 5;

/** What runs, what happened lately, and what was at any time before. */
export function Overview({ deployment, revisions }: Shown) {
  const history = useHistory(deployment.id);
  const live = revisions.find(({ id }) => id === deployment.active_revision_id);
  return (
    <>
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
              <Recent key={revision.id} revision={revision} live={revision === live} />
            ))}
          </ol>
        )}
        {!history.data && !history.error && <Skeleton rows={2} />}
      </Section>
    </>
  );
}

function Recent({ revision, live }: { revision: Revision; live: boolean }) {
  return (
    <li>
      <span className={css.version}>{revisionName(revision)}</span>
      <Status tone={live ? 'ok' : revisionTone(revision.status)} title={revision.status}>
        {live ? 'Live' : spoken(revision.status)}
      </Status>
      <Artefact config={revision.source_revision_config} />
      <span className={css.reason}>{revision.reason && <Text>{revision.reason}</Text>}</span>
      <span className={css.by}>
        <Text>{actorOf(revision)}</Text>
      </span>
      <span className={css.when}>
        <Time at={revision.created_at} />
      </span>
    </li>
  );
}
