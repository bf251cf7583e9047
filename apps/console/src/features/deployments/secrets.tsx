import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { answered, api } from '../../api/client';
import { useSession } from '../../api/session';
import { Action } from '../../ui/action';
import { Dialog } from '../../ui/dialog';
import { Form, Reason } from '../../ui/form';
import { List, Nothing } from '../../ui/list';
import { Button, Text, Time } from '../../ui/parts';
import { SecretValue } from '../../ui/secret-value';
import { elements, useHistory, useRefresh } from './data';
import css from './deployments.module.css';
import { secretChanges } from './history';
import { actorOf, type Shown } from './words';

const SHOWN_SECONDS = 30;

/** The names of the secrets, and when each of them was set. Their values are read one at a time, for a reason. */
export function Secrets({ deployment, onChange }: Shown & { onChange: () => void }) {
  const session = useSession().data!;
  const history = useHistory(deployment.id, 'DeploymentCreated,DeploymentPatched');
  const [revealed, setRevealed] = useState<string>();
  const set = secretChanges(elements(history));
  const references = deployment.secret_references ?? [];
  const items = [
    ...deployment.secrets.map(({ name }) => ({ name, from: undefined })),
    ...references.map(({ name, secret_name, secret_key }) => ({ name, from: `${secret_name} / ${secret_key}` })),
  ];
  const change = (
    <Action scope="write" onClick={onChange} disabled={deployment.status === 'AWAITING_DELETE'}>
      {items.length === 0 ? 'Set secrets …' : 'Set or remove secrets …'}
    </Action>
  );
  if (items.length === 0) {
    return (
      <Nothing title="No secrets">
        <p>
          What runs gets secrets as environment variables. Their values are sealed, and no page shows them by itself.
        </p>
        {change}
      </Nothing>
    );
  }
  return (
    <>
      <div className={css.tools}>{change}</div>
      <List
        label="Secrets"
        items={items}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Name',
            kind: 'name',
            cell: ({ name }) => (
              <code>
                <Text>{name}</Text>
              </code>
            ),
          },
          {
            title: 'Value',
            kind: 'wide',
            cell: ({ from }) =>
              from === undefined ? (
                <span className={css.quiet}>sealed</span>
              ) : (
                <span className={css.quiet}>
                  Secret of the cluster, <Text>{from}</Text>
                </span>
              ),
          },
          {
            title: 'Set by',
            cell: ({ name }) => {
              const entry = set.get(name);
              return entry ? <Text>{actorOf(entry)}</Text> : <span className={css.faint}>–</span>;
            },
          },
          {
            title: 'Set',
            kind: 'number',
            cell: ({ name }) => {
              const entry = set.get(name);
              return entry ? <Time at={entry.time} /> : '–';
            },
          },
          {
            title: 'Actions',
            kind: 'end',
            cell: ({ name, from }) =>
              from === undefined && (
                <Button
                  kind="quiet"
                  disabled={!session.reveals_secrets}
                  title={session.reveals_secrets ? undefined : 'Your key lacks the scope secrets:read.'}
                  aria-label={`Reveal ${name}`}
                  onClick={() => setRevealed(name)}
                >
                  Reveal …
                </Button>
              ),
          },
        ]}
      />
      {revealed !== undefined && (
        <RevealDialog deployment={deployment.id} name={revealed} onClose={() => setRevealed(undefined)} />
      )}
    </>
  );
}

/** Shows one value for half a minute; it is in no cache and goes with the dialog. */
function RevealDialog({ deployment, name, onClose }: { deployment: string; name: string; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [value, setValue] = useState<string>();
  const refresh = useRefresh(deployment);
  const reveal = useMutation({
    mutationFn: async () => {
      const path = { deployment_id: deployment, secret_name: name };
      const found = await answered(
        api.POST('/v2/deployments/{deployment_id}/secrets/{secret_name}/reveal', {
          params: { path },
          body: { reason },
        }),
      );
      setValue(found.value);
    },
    gcTime: 0,
    onSuccess: () => void refresh(),
  });
  useEffect(() => {
    if (value === undefined) return undefined;
    const timer = setTimeout(onClose, SHOWN_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <Dialog title={`Reveal ${name}`} onClose={onClose}>
      {value === undefined ? (
        <Form
          action="Reveal"
          busy={reveal.isPending}
          disabled={reason.trim() === ''}
          error={reveal.error}
          onSubmit={() => reveal.mutate()}
          onCancel={onClose}
        >
          <p className={css.lead}>
            Who reads a value, and why, stands in the history of the deployment and in the audit log.
          </p>
          <Reason value={reason} onChange={setReason} />
        </Form>
      ) : (
        <div className={css.stack}>
          <SecretValue value={value} />
          <p className={css.quiet}>This closes by itself after {SHOWN_SECONDS} seconds.</p>
        </div>
      )}
    </Dialog>
  );
}
