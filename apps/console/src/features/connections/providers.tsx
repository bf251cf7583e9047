import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { List, Nothing } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import css from './connections.module.css';
import { CreateDialog, Kinds, RemoveDialog, type Values } from './parts';

type Provider = Schemas['OAuthProvider'];

/** The providers at which users of agents sign in. */
export function ProvidersPage() {
  useTitle('OAuth providers');
  const { w } = useParams({ from: '/o/$w' });
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Provider>();
  const stale = ['providers', w];
  const list = useQuery({
    queryKey: stale,
    queryFn: ({ signal }) => answered(api.GET('/v2/auth/providers', { signal })),
  });
  const send = ({ token_endpoint_auth_method, client_secret, ...values }: Values) => {
    const secret = client_secret === '' ? {} : { client_secret };
    return answered(
      api.POST('/v2/auth/providers', { body: { ...values, token_endpoint_auth_method, ...secret } as never }),
    );
  };
  return (
    <Page
      title="Connections"
      aside={
        <Action scope="write" kind="main" onClick={() => setAdding(true)}>
          Add a provider …
        </Action>
      }
    >
      <Kinds />
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton />}
      {list.data?.length === 0 && (
        <Nothing title="No OAuth provider yet">
          <p>Agents act for users who have signed in at a provider; their tokens are sealed here.</p>
        </Nothing>
      )}
      {list.data && list.data.length > 0 && (
        <List
          label="OAuth providers"
          items={list.data}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', kind: 'name', cell: ({ name }) => <Text>{name}</Text> },
            { title: 'Id', cell: ({ provider_id }) => <code>{provider_id}</code> },
            {
              title: 'Signs in at',
              kind: 'wide',
              cell: ({ auth_url }) => (
                <span className={css.quiet}>
                  <Text>{auth_url}</Text>
                </span>
              ),
            },
            {
              title: 'Client',
              cell: ({ token_endpoint_auth_method }) => token_endpoint_auth_method.replaceAll('_', ' '),
            },
            { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <Time at={updated_at} /> },
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
      {adding && (
        <CreateDialog
          title="Add an OAuth provider"
          stale={stale}
          send={send}
          onClose={() => setAdding(false)}
          fields={[
            { name: 'provider_id', label: 'Id for paths and requests', hint: 'It cannot change.' },
            { name: 'name', label: 'Name' },
            { name: 'auth_url', label: 'Authorization endpoint' },
            { name: 'token_url', label: 'Token endpoint' },
            { name: 'client_id', label: 'Client id' },
            {
              name: 'token_endpoint_auth_method',
              label: 'How the client proves itself',
              options: {
                client_secret_post: 'Secret in the body',
                client_secret_basic: 'Secret in the header',
                none: 'Not at all: a public client',
              },
              first: 'client_secret_post',
            },
            {
              name: 'client_secret',
              label: 'Client secret',
              kind: 'secret',
              hint: 'Sealed, and never shown again.',
              optional: true,
            },
          ]}
        />
      )}
      {removed && (
        <RemoveDialog
          name={removed.provider_id}
          stale={stale}
          onClose={() => setRemoved(undefined)}
          send={() =>
            answered(
              api.DELETE('/v2/auth/providers/{provider_id}', {
                params: { path: { provider_id: removed.provider_id } },
              }),
            )
          }
        >
          The tokens of all users at this provider are deleted with it.
        </RemoveDialog>
      )}
    </Page>
  );
}
