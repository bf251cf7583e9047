import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, ApiError, type Schemas } from '../../api/client';
import { useMay } from '../../api/session';
import { Action } from '../../ui/action';
import { bytes, whole } from '../../ui/format';
import { RefusedItems } from '../../ui/refused';
import { Facts, List, Section } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './health.module.css';

type Parked = Schemas['ParkedSubject'];

const LOOK_MS = 10_000;
/** Readiness of the service, work that it gave up on, and the workspace's use of its share. */
export function HealthPage() {
  useTitle('Health');
  const { w } = useParams({ from: '/o/$w' });
  const readiness = useQuery({ queryKey: ['readiness'], queryFn: ready, refetchInterval: LOOK_MS, retry: false });
  const info = useQuery({ queryKey: ['info'], queryFn: ({ signal }) => answered(api.GET('/api/v1/info', { signal })) });
  const usage = useQuery({
    queryKey: ['usage', w],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/workspaces/current/usage', { signal })),
  });
  return (
    <Page title="Health">
      <Section title="Service">
        {readiness.error && <Problem error={readiness.error} retry={() => void readiness.refetch()} />}
        {!readiness.data && !readiness.error && <Skeleton rows={1} />}
        {readiness.data && <Readiness {...readiness.data} version={info.data?.instance_flags.fairlead_version} />}
      </Section>
      <Section title="What handlers gave up on">
        <ParkedSubjects />
      </Section>
      <RefusedItems workspace={w} />
      <Section title="What this workspace uses">
        {usage.error && <Problem error={usage.error} retry={() => void usage.refetch()} />}
        {usage.data && <Usage usage={usage.data} />}
      </Section>
    </Page>
  );
}

interface Ready {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** A service that is not ready says so with 503 and its reasons. */
async function ready({ signal }: { signal: AbortSignal }): Promise<Ready> {
  const { data, error, response } = await api.GET('/health/ready', { signal });
  if (data) return { ready: true, reasons: data.degraded ?? [] };
  if (response.status !== 503) throw new ApiError(response.status, `The service answered ${response.status}.`, null);
  const { detail } = (error ?? {}) as { detail?: unknown };
  const reasons = Array.isArray(detail)
    ? detail.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    : [String(detail)];
  return { ready: false, reasons };
}

function Readiness({ ready: isReady, reasons, version }: Ready & { version?: string }) {
  const degraded = isReady && reasons.length > 0;
  return (
    <>
      <p className={css.line}>
        <Status tone={isReady ? (degraded ? 'busy' : 'ok') : 'bad'}>
          {isReady ? (degraded ? 'Ready, with limits' : 'Ready') : 'Not ready'}
        </Status>
        {version && <span className={css.quiet}>Fairlead {version}</span>}
        <a href="/docs">API reference</a>
      </p>
      {reasons.length > 0 && (
        <ul className={css.reasons}>
          {reasons.map((reason) => (
            <li key={reason}>
              <Text>{reason}</Text>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Events that a handler failed on, and that wait with all that follow in their stream. */
function ParkedSubjects() {
  const { w } = useParams({ from: '/o/$w' });
  const isAdmin = useMay('admin');
  const queries = useQueryClient();
  const parked = useQuery({
    queryKey: ['parked', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/parked-subjects', { params: { query: { limit: 100 } }, signal })),
    enabled: isAdmin,
    refetchInterval: LOOK_MS,
    retry: false,
  });
  const retry = useMutation({
    mutationFn: (id: string) =>
      answered(
        api.POST('/v1/parked-subjects/{parked_subject_id}/retry', { params: { path: { parked_subject_id: id } } }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['parked', w] }),
  });
  if (!isAdmin || (parked.error instanceof ApiError && parked.error.status === 403)) {
    return <p className={css.quiet}>Only the operator’s key shows them.</p>;
  }
  if (parked.error) return <Problem error={parked.error} retry={() => void parked.refetch()} />;
  if (!parked.data) return <Skeleton rows={2} />;
  if (parked.data.resources.length === 0) return <Status tone="ok">Nothing: every event was handled</Status>;
  return (
    <>
      {retry.error && <Problem error={retry.error} />}
      <List
        label="What handlers gave up on"
        items={parked.data.resources}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Status',
            cell: ({ status }) => (
              <Status tone={status === 'parked' ? 'bad' : 'busy'}>{status === 'parked' ? 'Parked' : 'Retrying'}</Status>
            ),
          },
          { title: 'Handler', kind: 'name', cell: ({ consumer }) => <Text>{consumer}</Text> },
          { title: 'Event', cell: (one) => <code>{`${one.event_type} in ${one.subject}`}</code> },
          { title: 'Why', kind: 'wide', cell: ({ reason }) => <Text>{reason}</Text> },
          { title: 'Attempts', kind: 'number', cell: ({ attempts }) => whole(attempts) },
          { title: 'Last', kind: 'number', cell: ({ failed_at }: Parked) => <Time at={failed_at} /> },
          {
            title: 'Actions',
            kind: 'end',
            cell: ({ id }) => (
              <Action scope="admin" kind="quiet" disabled={retry.isPending} onClick={() => retry.mutate(id)}>
                Try again
              </Action>
            ),
          },
        ]}
      />
    </>
  );
}

const PLACES: Readonly<Record<string, [name: string, path?: '/o/$w/keys' | '/o/$w/host/deployments']>> = {
  deployments: ['Deployments', '/o/$w/host/deployments'],
  api_keys: ['API keys', '/o/$w/keys'],
  integrations: ['Integrations'],
  listeners: ['Listeners'],
  monitors: ['Monitors'],
  oauth_providers: ['OAuth providers'],
  views: ['Saved views'],
  webhooks: ['Webhooks'],
  stored_bytes: ['Stored'],
};

function Usage({ usage }: { usage: Schemas['WorkspaceUsage'] }) {
  const { w } = useParams({ from: '/o/$w' });
  return (
    <Facts
      facts={Object.fromEntries(
        Object.entries(usage).map(([kind, { used, limit }]) => {
          const [name, path] = PLACES[kind] ?? [kind];
          const text =
            kind === 'stored_bytes' ? `${bytes(used)} of ${bytes(limit)}` : `${whole(used)} of ${whole(limit)}`;
          return [
            name,
            <span key={kind} className={css.share}>
              {path ? (
                <Link to={path} params={{ w }}>
                  {text}
                </Link>
              ) : (
                text
              )}
              <meter min={0} max={limit} high={limit * 0.8} value={used} aria-label={name} />
            </span>,
          ];
        }),
      )}
    />
  );
}
