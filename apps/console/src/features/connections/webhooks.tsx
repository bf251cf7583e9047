import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { merged, useAddress } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { Filters, Pick } from '../../ui/form';
import { middle } from '../../ui/format';
import { Facts, List, More, Nothing } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status, type Tone } from '../../ui/status';
import { SecretValue } from '../../ui/secret-value';
import css from './connections.module.css';
import { CreateDialog, Kinds, RemoveDialog, type Values } from './parts';

type Webhook = Schemas['Webhook'];

const LOOK_MS = 5000;
const STATUSES: Readonly<Record<string, [Tone, string]>> = {
  delivered: ['ok', 'Delivered'],
  pending: ['busy', 'Pending'],
  failed: ['bad', 'Failed'],
  set_aside: ['idle', 'Set aside'],
};

/** Webhooks of the workspace, and the state of their deliveries. */
export function WebhooksPage() {
  useTitle('Webhooks');
  const { w } = useParams({ from: '/o/$w' });
  const [adding, setAdding] = useState(false);
  const list = useQuery({
    queryKey: ['webhooks', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/webhooks', { params: { query: { limit: 100 } }, signal })),
  });
  const items = list.data?.resources;
  const send = ({ url, event_types, description, format }: Values) => {
    const types = event_types!.split(/[\s,]+/).filter((type) => type !== '');
    return answered(api.POST('/v1/webhooks', { body: { url, event_types: types, description, format } as never }));
  };
  return (
    <Page
      title="Connections"
      aside={
        <Action scope="write" kind="main" onClick={() => setAdding(true)}>
          Add a webhook …
        </Action>
      }
    >
      <Kinds />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!items && !list.error && <Skeleton />}
      {items?.length === 0 && (
        <Nothing title="No webhook yet">
          <p>A webhook sends events, such as that a revision has failed, to an address of yours. They are signed.</p>
        </Nothing>
      )}
      {items && items.length > 0 && (
        <List
          label="Webhooks"
          items={items}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Sends to',
              kind: 'name',
              cell: ({ id, url }) => (
                <Link to="/o/$w/webhooks/$webhook" params={{ w, webhook: id }} title={url}>
                  <Text>{middle(url, 56)}</Text>
                </Link>
              ),
            },
            { title: 'Status', cell: (hook) => <HookStatus hook={hook} /> },
            { title: 'Events', cell: ({ event_types }) => <code>{middle(event_types.join(', '), 48)}</code> },
            { title: 'For', kind: 'wide', cell: ({ description }) => <Text>{description}</Text> },
            { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <Time at={updated_at} /> },
          ]}
        />
      )}
      {adding && (
        <CreateDialog
          title="Add a webhook"
          stale={['webhooks', w]}
          send={send}
          onClose={() => setAdding(false)}
          fields={[
            { name: 'url', label: 'Address' },
            {
              name: 'event_types',
              label: 'Events',
              kind: 'lines',
              first: 'revision.*',
              hint: 'Whole names, prefixes such as deployment.*, or *.',
            },
            {
              name: 'format',
              label: 'Form of messages',
              options: { standard: 'Signed JSON', slack: 'Slack' },
              first: 'standard',
            },
            { name: 'description', label: 'What it is for', optional: true },
          ]}
          done={(answer) => <NewSecret secret={(answer as { secret: string }).secret} />}
        />
      )}
    </Page>
  );
}

function NewSecret({ secret }: { secret: string }) {
  return (
    <>
      <p className={css.quiet}>Deliveries are signed with this secret. It is shown now, and never again.</p>
      <SecretValue value={secret} />
    </>
  );
}

function HookStatus({ hook }: { hook: Webhook }) {
  if (!hook.enabled)
    return (
      <Status tone={hook.disabled_reason === 'requested' ? 'idle' : 'bad'}>{`Off: ${hook.disabled_reason}`}</Status>
    );
  if (hook.failing_since) return <Status tone="bad">Failing</Status>;
  return <Status tone="ok">On</Status>;
}

/** One webhook with what was sent to it. */
export function WebhookPage() {
  const { w, webhook: id } = useParams({ from: '/o/$w/webhooks/$webhook' });
  const { search, change } = useAddress();
  const [removing, setRemoving] = useState(false);
  const queries = useQueryClient();
  const key = ['webhooks', w, id];
  const path = { webhook_id: id };
  const hook = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => answered(api.GET('/v1/webhooks/{webhook_id}', { params: { path }, signal })),
  });
  const deliveries = useInfiniteQuery({
    queryKey: [...key, 'deliveries', search.status],
    queryFn: ({ pageParam, signal }) => {
      const status = search.status as keyof typeof STATUSES | undefined;
      const query = { limit: 50, ...(pageParam && { cursor: pageParam }), ...(status && { status: status as never }) };
      return answered(api.GET('/v1/webhooks/{webhook_id}/deliveries', { params: { path, query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: LOOK_MS,
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['webhooks', w] });
  const write = useMutation({
    mutationFn: (what: () => Promise<unknown>) => what(),
    onSettled: refresh,
  });
  const test = () => answered(api.POST('/v1/webhooks/{webhook_id}/test', { params: { path } }));
  const enable = (enabled: boolean) =>
    answered(api.PATCH('/v1/webhooks/{webhook_id}', { params: { path }, body: { enabled } as never }));
  const redeliver = (delivery: string) =>
    answered(
      api.POST('/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
        params: { path: { ...path, delivery_id: delivery } },
      }),
    );
  const items = deliveries.data?.pages.flatMap(({ resources }) => resources) ?? [];
  const url = hook.data?.url ?? 'Webhook';
  useTitle(url);
  if (hook.error && !hook.data) {
    return (
      <ErrorPage error={hook.error} thing="webhook" retry={() => void hook.refetch()}>
        <Link to="/o/$w/webhooks" params={{ w }}>
          All webhooks
        </Link>
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/webhooks" params={{ w }} className={css.crumb}>
            Webhooks
          </Link>{' '}
          <span className={css.slash}>/</span> <Text>{url}</Text>
        </>
      }
      aside={
        hook.data && (
          <>
            <Action scope="write" disabled={write.isPending} onClick={() => write.mutate(test)}>
              Send a test
            </Action>
            <Action
              scope="write"
              disabled={write.isPending}
              onClick={() => write.mutate(() => enable(!hook.data.enabled))}
            >
              {hook.data.enabled ? 'Turn off' : 'Turn on'}
            </Action>
            <Action scope="write" onClick={() => setRemoving(true)}>
              Remove …
            </Action>
          </>
        )
      }
    >
      {hook.error && <Problem error={hook.error} retry={() => void hook.refetch()} />}
      {write.error && <Problem error={write.error} />}
      {!hook.data && <Skeleton />}
      {hook.data && (
        <Facts
          facts={{
            Status: <HookStatus hook={hook.data} />,
            Events: hook.data.event_types.join(', '),
            For: hook.data.description && <Text>{hook.data.description}</Text>,
            'Failing since': hook.data.failing_since && <Time at={hook.data.failing_since} />,
            'Paused until': hook.data.paused_until && hook.data.paused_until.slice(0, 19).replace('T', ' '),
          }}
        />
      )}
      <div className={css.gap} />
      <Filters>
        <Pick
          label="Status of deliveries"
          value={search.status ?? ''}
          onChange={(status) => change({ status: status || undefined })}
          options={{
            '': 'All deliveries',
            ...Object.fromEntries(Object.entries(STATUSES).map(([value, [, text]]) => [value, text])),
          }}
        />
      </Filters>
      {deliveries.error && <Problem error={deliveries.error} retry={() => void deliveries.refetch()} />}
      {deliveries.data && items.length === 0 && <p className={css.quiet}>Nothing was sent yet.</p>}
      {items.length > 0 && (
        <List
          label="Deliveries"
          items={items}
          keyOf={(one) => one.id}
          columns={[
            {
              title: 'Event',
              kind: 'name',
              cell: (one) => (
                <Link
                  to="."
                  resetScroll={false}
                  search={merged({ delivery: search.delivery === one.id ? undefined : one.id })}
                  aria-expanded={search.delivery === one.id}
                >
                  {one.event_type}
                </Link>
              ),
            },
            {
              title: 'Status',
              cell: ({ status, attempt_count }) => {
                const [tone, text] = STATUSES[status]!;
                return <Status tone={tone}>{status === 'pending' && attempt_count > 0 ? 'Retrying' : text}</Status>;
              },
            },
            { title: 'Answer', cell: ({ last_status }) => last_status ?? '–' },
            { title: 'Attempts', kind: 'number', cell: ({ attempt_count }) => attempt_count },
            {
              title: 'Message',
              kind: 'wide',
              cell: ({ message_id }) => <code className={css.quiet}>{message_id}</code>,
            },
            { title: 'Made', kind: 'number', cell: ({ created_at }) => <Time at={created_at} /> },
            {
              title: 'Actions',
              kind: 'end',
              cell: (one) => (
                <Action
                  scope="write"
                  kind="quiet"
                  disabled={write.isPending || one.status === 'pending'}
                  onClick={() => write.mutate(() => redeliver(one.id))}
                >
                  Send again
                </Action>
              ),
            },
          ]}
          below={(one) => one.id === search.delivery && <Attempts webhook={id} delivery={one.id} />}
        />
      )}
      <More query={deliveries} />
      {removing && hook.data && (
        <RemoveDialog
          name={hook.data.url}
          stale={['webhooks', w]}
          onClose={() => setRemoving(false)}
          send={() => answered(api.DELETE('/v1/webhooks/{webhook_id}', { params: { path } }))}
        >
          Nothing is sent to it any more, and its deliveries are forgotten.
        </RemoveDialog>
      )}
    </Page>
  );
}

function Attempts({ webhook, delivery }: { webhook: string; delivery: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const found = useQuery({
    queryKey: ['webhooks', w, webhook, 'delivery', delivery],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/webhooks/{webhook_id}/deliveries/{delivery_id}', {
          params: { path: { webhook_id: webhook, delivery_id: delivery } },
          signal,
        }),
      ),
    refetchInterval: LOOK_MS,
  });
  if (found.error) return <Problem error={found.error} />;
  if (!found.data) return <Skeleton rows={2} />;
  const payload = JSON.stringify(found.data.payload, null, 2);
  return (
    <div className={css.detail}>
      <ol>
        {found.data.attempts.map(({ number, at, latency_ms, status, error, response }) => (
          <li key={number}>
            <b>Attempt {number}</b> <Time at={at} />, {latency_ms} ms: {status ?? 'no answer'}
            {error && (
              <span className={css.bad}>
                {' '}
                <Text>{error}</Text>
              </span>
            )}
            {response && (
              <pre tabIndex={0}>
                <Text>{response}</Text>
              </pre>
            )}
          </li>
        ))}
      </ol>
      <details>
        <summary>What is sent</summary>
        <pre tabIndex={0}>
          <Text>{payload}</Text>
        </pre>
      </details>
    </div>
  );
}
