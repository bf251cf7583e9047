import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { duration, figure, percent, whole } from '../../ui/format';
import { List, Nothing } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status, type Tone } from '../../ui/status';
import { CreateDialog, Kinds, RemoveDialog, type Values } from './parts';

type Monitor = Schemas['Monitor'];

const LOOK_MS = 10_000;
/** Monitors of the list, and projects to choose from. */
const [MOST, MOST_PROJECTS] = [100, 50];
const STATES: Readonly<Record<Monitor['state'], [Tone, string]>> = {
  ok: ['ok', 'Within limits'],
  alerting: ['bad', 'Alerting'],
  not_enough_evidence: ['idle', 'Too few runs'],
  failing: ['bad', 'Cannot be looked at'],
};
const MEASURES: Readonly<Record<Monitor['measure'], string>> = {
  ...{ error_rate: 'Error rate', cost: 'Cost', latency_p50: 'Latency p50', latency_p99: 'Latency p99' },
  score: 'Mean of a score',
};

/** Monitors of the workspace, or of the project that the address names. */
export function MonitorsPage() {
  useTitle('Monitors');
  const { w } = useParams({ from: '/o/$w' });
  const { search } = useAddress();
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Monitor>();
  const { project: project_id } = search;
  const stale = ['monitors', w];
  const list = useQuery({
    queryKey: [...stale, project_id],
    queryFn: ({ signal }) => {
      const query = { limit: MOST, ...(project_id && { project_id }) };
      return answered(api.GET('/v1/monitors', { params: { query }, signal }));
    },
    refetchInterval: LOOK_MS,
  });
  const items = list.data?.resources;
  return (
    <Page
      title="Connections"
      aside={
        <Action scope="write" kind="main" onClick={() => setAdding(true)}>
          Add a monitor …
        </Action>
      }
    >
      <Kinds />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!items && !list.error && <Skeleton />}
      {items?.length === 0 && (
        <Nothing title="No monitor yet">
          <p>
            A monitor looks at the newest traces of a project, and tells webhooks when a score, the cost, the errors or
            the latency are beyond a threshold.
          </p>
        </Nothing>
      )}
      {items && items.length > 0 && (
        <List
          label="Monitors"
          items={items}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              kind: 'name',
              cell: ({ name, project_id: session }) => (
                <Link to="/o/$w/projects/p/$session" params={{ w, session }} title="Its project">
                  <Text>{name}</Text>
                </Link>
              ),
            },
            { title: 'State', cell: (monitor) => <State monitor={monitor} /> },
            { title: 'Value', kind: 'number', cell: (monitor) => shown(monitor, monitor.last_look?.value) },
            { title: 'Runs', kind: 'number', cell: ({ last_look }) => whole(last_look?.runs ?? 0) },
            { title: 'Alerts when', kind: 'wide', cell: (monitor) => <Text>{limitOf(monitor)}</Text> },
            { title: 'Since', kind: 'number', cell: ({ state_since }) => <Time at={state_since} /> },
            {
              title: 'Actions',
              kind: 'end',
              cell: (one) => (
                <Action scope="write" kind="quiet" aria-label={`Remove ${one.name}`} onClick={() => setRemoved(one)}>
                  Remove …
                </Action>
              ),
            },
          ]}
        />
      )}
      {items?.length === MOST && <p>Only the first {MOST} are listed: the page of a project leads to its own.</p>}
      {adding && <NewMonitor w={w} project={project_id} onClose={() => setAdding(false)} />}
      {removed && (
        <RemoveDialog
          name={removed.name}
          stale={stale}
          onClose={() => setRemoved(undefined)}
          send={() =>
            answered(api.DELETE('/v1/monitors/{monitor_id}', { params: { path: { monitor_id: removed.id } } }))
          }
        >
          Nobody is told of these runs by it any more.
        </RemoveDialog>
      )}
    </Page>
  );
}

function State({ monitor: { enabled, state, reason, alerting_since } }: { monitor: Monitor }) {
  if (!enabled) return <Status tone="idle">Paused</Status>;
  const [tone, text] = STATES[state];
  // What alerted has not recovered because nothing is known of it.
  const isOpen = alerting_since !== null && state !== 'alerting';
  return (
    <Status tone={isOpen ? 'bad' : tone} title={reason ?? undefined}>
      {isOpen ? `${text}, alerted before` : text}
    </Status>
  );
}

function shown({ measure }: Monitor, value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (measure === 'error_rate') return percent(value);
  return measure.startsWith('latency') ? duration(value) : figure(value);
}

function limitOf(monitor: Monitor): string {
  const { measure, feedback_key, alerts_when, threshold, window_minutes } = monitor;
  const what = measure === 'score' ? `Mean of ${feedback_key}` : MEASURES[measure];
  return `${what} ${alerts_when} ${shown(monitor, threshold)} in ${window_minutes} min`;
}

function NewMonitor({ w, project, onClose }: { w: string; project: string | undefined; onClose: () => void }) {
  const projects = useQuery({
    queryKey: ['projects', w, 'of monitors'],
    queryFn: ({ signal }) => answered(api.GET('/v1/projects', { params: { query: { limit: MOST_PROJECTS } }, signal })),
  });
  if (projects.error) return <Problem error={projects.error} />;
  if (!projects.data) return null;
  const found = Object.fromEntries(projects.data.projects.map(({ id, name }) => [id, name]));
  const known = project === undefined || found[project] !== undefined ? found : { [project]: project, ...found };
  const isCut = projects.data.projects.length === MOST_PROJECTS;
  const send = ({ threshold, window_minutes, feedback_key, ...rest }: Values) => {
    const numbers = { threshold: Number(threshold), window_minutes: Number(window_minutes) };
    const key = rest.measure === 'score' ? { feedback_key } : {};
    return answered(api.POST('/v1/monitors', { body: { ...rest, ...numbers, ...key } as never }));
  };
  return (
    <CreateDialog
      title="Add a monitor"
      stale={['monitors', w]}
      send={send}
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name' },
        {
          name: 'project_id',
          label: isCut ? `Project, of the first ${MOST_PROJECTS} (others: on their own pages)` : 'Project',
          options: known,
          first: project ?? Object.keys(known)[0],
        },
        { name: 'measure', label: 'What it looks at', options: MEASURES, first: 'error_rate' },
        { name: 'feedback_key', label: 'Key of the score', hint: 'For the mean of a score alone.', optional: true },
        {
          name: 'alerts_when',
          label: 'It alerts when the value is',
          options: { above: 'Above the threshold', below: 'Below the threshold' },
          first: 'above',
        },
        { name: 'threshold', label: 'Threshold', hint: 'A rate from 0 to 1, seconds, a cost, or a score.' },
        { name: 'window_minutes', label: 'How far back it looks, in minutes', first: '60' },
      ]}
    />
  );
}
