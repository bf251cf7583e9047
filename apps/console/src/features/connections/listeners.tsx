import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { List, Nothing } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { CreateDialog, Kinds, RemoveDialog, type Values } from './parts';

type Listener = Schemas['Listener'];

/** The clusters that run deployments. */
export function ListenersPage() {
  useTitle('Listeners');
  const { w } = useParams({ from: '/o/$w' });
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Listener>();
  const stale = ['listeners', w];
  const list = useQuery({
    queryKey: stale,
    queryFn: ({ signal }) => answered(api.GET('/v2/listeners', { params: { query: { limit: 100 } }, signal })),
  });
  const items = list.data?.resources;
  const send = ({ compute_id, cluster_namespaces: names }: Values) => {
    const cluster_namespaces = names!.split(/[\s,]+/).filter((name) => name !== '');
    const compute_config = cluster_namespaces.length > 0 ? { cluster_namespaces } : {};
    return answered(api.POST('/v2/listeners', { body: { compute_type: 'k8s', compute_id, compute_config } as never }));
  };
  return (
    <Page
      title="Connections"
      aside={
        <Action scope="write" kind="main" onClick={() => setAdding(true)}>
          Add a listener …
        </Action>
      }
    >
      <Kinds />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!items && !list.error && <Skeleton />}
      {items?.length === 0 && (
        <Nothing title="No listener yet">
          <p>A listener names a Kubernetes cluster, and the namespaces of it that deployments may use.</p>
        </Nothing>
      )}
      {items && items.length > 0 && (
        <List
          label="Listeners"
          items={items}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Cluster', kind: 'name', cell: ({ compute_id }) => <Text>{compute_id}</Text> },
            {
              title: 'Namespaces',
              kind: 'wide',
              cell: ({ compute_config: { cluster_namespaces } }) => (
                <Text>{cluster_namespaces?.join(', ') ?? 'its own'}</Text>
              ),
            },
            { title: 'Version', cell: ({ version }) => version && <Text>{version}</Text> },
            { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <Time at={updated_at} /> },
            {
              title: 'Actions',
              kind: 'end',
              cell: (one) => (
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Remove ${one.compute_id}`}
                  onClick={() => setRemoved(one)}
                >
                  Remove …
                </Action>
              ),
            },
          ]}
        />
      )}
      {adding && (
        <CreateDialog
          title="Add a listener"
          stale={stale}
          send={send}
          onClose={() => setAdding(false)}
          fields={[
            { name: 'compute_id', label: 'Name of the cluster', hint: 'It cannot change.' },
            {
              name: 'cluster_namespaces',
              label: 'Namespaces that deployments may use',
              kind: 'lines',
              optional: true,
            },
          ]}
        />
      )}
      {removed && (
        <RemoveDialog
          name={removed.compute_id}
          stale={stale}
          onClose={() => setRemoved(undefined)}
          send={() =>
            answered(api.DELETE('/v2/listeners/{listener_id}', { params: { path: { listener_id: removed.id } } }))
          }
        >
          Deployments cannot be made in this cluster any more.
        </RemoveDialog>
      )}
    </Page>
  );
}
