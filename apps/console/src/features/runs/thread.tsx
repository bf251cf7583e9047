import { Link, useParams } from '@tanstack/react-router';
import { useProject } from '../../api/projects';
import { useThread, useTraces } from '../../api/traces';
import { ErrorPage } from '../../ui/error-page';
import { duration, figure, middle, runName } from '../../ui/format';
import { List, More, Section } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Readable } from '../../ui/values/values';
import { RunStatus } from './columns';
import { ProjectCrumb } from './project-crumb';
import css from './runs.module.css';

/** The runs of one conversation, as a conversation. */
export function ThreadPage() {
  const { w, session, thread: id } = useParams({ from: '/o/$w/projects/p/$session/t/$thread' });
  const thread = useThread(w, session, id);
  const runs = useTraces(w, session, ['thread', id], () => ({ thread_id: id }));
  const project = useProject(w, session).data?.name ?? undefined;
  useTitle(project === undefined ? id : `${id} · ${project}`);
  if (thread.error && !thread.data) {
    return (
      <ErrorPage error={thread.error} thing="thread" retry={() => void thread.refetch()}>
        <Link to="/o/$w/projects/p/$session" params={{ w, session }}>
          Its project
        </Link>
      </ErrorPage>
    );
  }
  const lines = runs.data?.pages.flatMap(({ traces }) => traces);
  return (
    <Page
      title={
        <>
          <ProjectCrumb w={w} session={session} /> <Text title={id.slice(0, 1000)}>{middle(id, 80)}</Text>
        </>
      }
    >
      {thread.error && <Problem error={thread.error} retry={() => void thread.refetch()} />}
      <Section title="Conversation">
        {!thread.data && <Skeleton />}
        {thread.data && (
          <div className={css.turns}>
            <Readable value={thread.data.messages} />
            {!thread.data.isWhole && <p className={css.quiet}>The conversation goes on; this is its beginning.</p>}
          </div>
        )}
      </Section>
      <Section title="Its runs, the newest first">
        {runs.error && <Problem error={runs.error} retry={() => void runs.refetch()} />}
        {lines && (
          <List
            label="Runs"
            items={lines}
            keyOf={(line) => line.id}
            columns={[
              {
                title: 'Name',
                kind: 'name',
                cell: (line) => (
                  <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session, run: line.id }}>
                    <Text title={line.name.slice(0, 1000)}>{middle(runName(line.name, 'Run'), 80)}</Text>
                  </Link>
                ),
              },
              { title: 'Status', cell: ({ status }) => <RunStatus of={status} /> },
              { title: 'Latency', kind: 'number', cell: ({ latency }) => duration(latency) },
              { title: 'Tokens', kind: 'number', cell: ({ total_tokens }) => figure(total_tokens) },
              { title: 'Started', kind: 'number', cell: ({ start_time }) => <Time at={start_time} /> },
            ]}
          />
        )}
        {lines && <More query={runs} />}
      </Section>
    </Page>
  );
}
