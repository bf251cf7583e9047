import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { duration, figure, percent, whole } from '../../ui/format';
import { List, Nothing } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status, type Tone } from '../../ui/status';
import { ChangedMonitor, MEASURES, NewMonitor } from './monitor-form';
import { Kinds, RemoveDialog } from './parts';

type Monitor = Schemas['Monitor'];

const LOOK_MS = 10_000;
const MOST = 100;
const STATES: Readonly<Record<Monitor['state'], [Tone, string]>> = {
  ok: ['ok', 'Within limits'],
  alerting: ['bad', 'Alerting'],
  not_enough_evidence: ['idle', 'Too few runs'],
  failing: ['bad', 'Cannot be looked at'],
};

/** Monitors of the workspace, or of the project that the address names. */
export function MonitorsPage() {
  useTitle('Monitors');
  const { w } = useParams({ from: '/o/$w' });
  const { search } = useAddress();
  const [adding, setAdding] = useState(false);
  const [changed, setChanged] = useState<Monitor>();
  const [removed, setRemoved] = useState<Monitor>();
  const queries = useQueryClient();
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
  const turn = useMutation({
    mutationFn: ({ id: monitor_id, enabled }: Monitor) => {
      const body = { enabled: !enabled } as never;
      return answered(api.PATCH('/v1/monitors/{monitor_id}', { params: { path: { monitor_id } }, body }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: stale }),
  });
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
      {turn.error && <Problem error={turn.error} />}
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
                <>
                  <Action scope="write" kind="quiet" aria-label={`Change ${one.name}`} onClick={() => setChanged(one)}>
                    Change …
                  </Action>
                  <Action
                    scope="write"
                    kind="quiet"
                    aria-label={`${one.enabled ? 'Pause' : 'Resume'} ${one.name}`}
                    disabled={turn.isPending}
                    onClick={() => turn.mutate(one)}
                  >
                    {one.enabled ? 'Pause' : 'Resume'}
                  </Action>
                  <Action scope="write" kind="quiet" aria-label={`Remove ${one.name}`} onClick={() => setRemoved(one)}>
                    Remove …
                  </Action>
                </>
              ),
            },
          ]}
        />
      )}
      {items?.length === MOST && <p>Only the first {MOST} are listed: the page of a project leads to its own.</p>}
      {adding && <NewMonitor w={w} project={project_id} onClose={() => setAdding(false)} />}
      {changed && <ChangedMonitor w={w} monitor={changed} onClose={() => setChanged(undefined)} />}
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
