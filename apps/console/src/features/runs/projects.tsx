import { Link, useParams } from '@tanstack/react-router';
import { type Project, useProjects } from '../../api/projects';
import { type Column, ColumnsButton } from '../../ui/columns/list-columns';
import { useAddress } from '../../ui/address';
import { DemoOffer } from '../../ui/demo-offer';
import { Filters, Pick, Typed } from '../../ui/form';
import { duration, figure, middle, percent, whole } from '../../ui/format';
import { List, More, Nothing } from '../../ui/list';
import { Copy, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { SavedViews } from '../../ui/views/saved-views';
import { faultOf, TIME_FILTERS, timesOf } from './filters';
import css from './runs.module.css';

const TIMES = {
  ...{ '': 'Last 7 days', '1h': 'Last hour', '24h': 'Last 24 hours' },
  ...{ '30d': 'Last 30 days', '90d': 'Last 90 days' },
};
const MORE = { from: 'From, 2026-01-31T14:30', to: 'Before, 2026-01-31T15:00' };

/** The tracing projects of a workspace, with what ran in the time that the address names. */
export function ProjectsPage() {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const query = useProjects(
    w,
    search.q,
    TIME_FILTERS.map((name) => search[name]),
    () => timesOf(search, Date.now()),
  );
  const projects = query.data?.pages.flatMap((page) => page.projects);
  const columns = useColumns(w);
  useTitle('Traces');
  const more = Object.keys(MORE).some((name) => search[name]);
  return (
    <Page title="Traces">
      <Filters>
        <Typed
          label="Name contains"
          main
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined }, 'replace')}
        />
        <Pick
          label="Time"
          value={search.since ?? ''}
          onChange={(since) => change({ since: since || undefined })}
          options={TIMES}
        />
        <details className={css.menu} open={more || undefined}>
          <summary>From and to</summary>
          <div>
            {Object.entries(MORE).map(([name, label]) => (
              <Typed
                key={name}
                label={label}
                value={search[name] ?? ''}
                onChange={(time) => change({ [name]: time || undefined }, 'replace')}
              />
            ))}
          </div>
        </details>
        <SavedViews page="projects" />
        <ColumnsButton list="projects" columns={columns} />
        <span role="status" className={css.quiet}>
          {faultOf(search)}
        </span>
      </Filters>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {!projects && !query.error && <Skeleton />}
      {projects?.length === 0 && (search.q ? <Nothing title="No project has this in its name." /> : <FirstTrace />)}
      {projects && projects.length > 0 && (
        <List
          name="projects"
          label="Projects"
          items={projects}
          old={query.isPlaceholderData}
          keyOf={({ id }) => id}
          columns={columns}
        />
      )}
      {projects && <More query={query} />}
    </Page>
  );
}

function useColumns(w: string): Column<Project>[] {
  const { search } = useAddress();
  const time = Object.fromEntries(TIME_FILTERS.map((name) => [name, search[name]]));
  const number = 'number' as const;
  return [
    {
      title: 'Name',
      kind: 'name',
      cell: ({ id, name, description }) => (
        <Link to="/o/$w/projects/p/$session" params={{ w, session: id }} search={time} title={description ?? name}>
          <Text>{middle(name, 72)}</Text>
        </Link>
      ),
    },
    { title: 'Runs', kind: number, cell: ({ runs }) => whole(runs) },
    {
      title: 'Errors',
      kind: number,
      cell: ({ runs, errors }) => (runs === 0 ? '–' : percent(errors / runs)),
    },
    { title: 'Tokens', kind: number, cell: ({ total_tokens: tokens }) => figure(tokens) },
    { title: 'Cost', kind: number, cell: ({ total_cost: cost }) => figure(Number(cost)) },
    { title: 'p50', kind: number, about: 'Median latency', cell: ({ latency_p50: p50 }) => duration(p50) },
    { title: 'p99', kind: number, cell: ({ latency_p99: p99 }) => duration(p99) },
    {
      title: 'Last run',
      kind: number,
      cell: ({ last_run_start_time: at }) => (at === null ? '–' : <Time at={at} />),
    },
    { title: 'Made', kind: number, hidden: true, cell: ({ start_time: at }) => <Time at={at} /> },
  ];
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
