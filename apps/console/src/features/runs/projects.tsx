import { Link, useParams } from '@tanstack/react-router';
import { type Project, useProjects } from '../../api/traces';
import { useAddress } from '../../ui/address';
import { DemoOffer } from '../../ui/demo-offer';
import { Filters, Typed } from '../../ui/form';
import { duration, figure, middle, percent, whole } from '../../ui/format';
import { List, More, Nothing } from '../../ui/list';
import { Copy, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import css from './runs.module.css';

/** The tracing projects of a workspace. */
export function ProjectsPage() {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const query = useProjects(w, search.q);
  const projects = query.data?.pages.flat();
  useTitle('Traces');
  return (
    <Page title="Traces">
      <Filters>
        <Typed
          label="Name contains"
          main
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined }, 'replace')}
        />
      </Filters>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {!projects && !query.error && <Skeleton />}
      {projects?.length === 0 && (search.q ? <Nothing title="No project has this in its name." /> : <FirstTrace />)}
      {projects && projects.length > 0 && <Projects projects={projects} w={w} old={query.isPlaceholderData} />}
      {projects && <More query={query} />}
    </Page>
  );
}

function Projects({ projects, w, old }: { projects: readonly Project[]; w: string; old: boolean }) {
  const number = 'number' as const;
  return (
    <List
      label="Projects"
      items={projects}
      old={old}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Name',
          kind: 'name',
          cell: ({ id, name }) => (
            <Link to="/o/$w/projects/p/$session" params={{ w, session: id }} title={name}>
              <Text>{middle(name, 72)}</Text>
            </Link>
          ),
        },
        { title: 'Runs', kind: number, cell: ({ run_count: count }) => (count === null ? '–' : whole(count)) },
        { title: 'Errors', kind: number, cell: ({ error_rate: rate }) => percent(rate) },
        { title: 'Tokens', kind: number, cell: ({ total_tokens: tokens }) => figure(tokens) },
        { title: 'Cost', kind: number, cell: ({ total_cost: cost }) => figure(cost === null ? null : Number(cost)) },
        { title: 'p50', kind: number, cell: ({ latency_p50: p50 }) => duration(p50) },
        { title: 'p99', kind: number, cell: ({ latency_p99: p99 }) => duration(p99) },
        {
          title: 'Last run',
          kind: number,
          cell: ({ last_run_start_time: at }) => (at === null ? '–' : <Time at={at} />),
        },
      ]}
    />
  );
}

/** The page of a workspace without traces: a command that sends one. The list replaces it when one is there. */
function FirstTrace() {
  const command = [
    `curl -sS ${window.location.origin}/api/v1/runs \\`,
    `  -H "x-api-key: $FAIRLEAD_KEY" -H 'content-type: application/json' \\`,
    `  -d '{"id":"'$(uuidgen)'","name":"answer","session_name":"my-agent",`,
    `       "inputs":{"question":"Where is my parcel?"},"outputs":{"answer":"It arrives tomorrow."},`,
    `       "end_time":"'$(date -u +%FT%TZ)'"}'`,
  ].join('\n');
  return (
    <Nothing title="No trace yet">
      <p>
        Send the runs of a program while they happen, with an SDK or by themselves. Your key goes into{' '}
        <code>FAIRLEAD_KEY</code>.
      </p>
      <pre className={css.command} tabIndex={0}>
        {command}
      </pre>
      <div className={css.line}>
        <Copy text={command}>Copy</Copy>
        <span role="status" className={css.quiet}>
          Waiting for it …
        </span>
      </div>
      <DemoOffer />
    </Nothing>
  );
}
