import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api, type Schemas } from '../../api/client';
import { useMay } from '../../api/session';
import { Action } from '../../ui/action';
import { Dialog } from '../../ui/dialog';
import { Choice, Form, TextField } from '../../ui/form';
import { middle } from '../../ui/format';
import { List, Section } from '../../ui/list';
import { Button, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { SecretValue } from '../../ui/secret-value';
import css from './keys.module.css';

type ApiKey = Schemas['ApiKey'];
type Session = Schemas['ListedConsoleSession'];

const DAY_MS = 86_400_000;
const ENDS: Readonly<Record<string, string>> = {
  '': 'As this key',
  7: '7 days',
  30: '30 days',
  90: '90 days',
  365: 'A year',
};
/** Labels of the form, by the members of the request. */
const LABELS = { description: 'What it is for', scopes: 'What it may do', expires_at: 'Ends after' };
type Scope = ApiKey['scopes'][number];
const SCOPES: Readonly<Record<Scope, string>> = {
  read: 'read everything but secrets',
  write: 'change things; includes read and invoke',
  admin: 'keys, workspaces, audit log; includes write',
  invoke: 'send requests to deployments that run on this machine',
  'secrets:read': 'read the values of secrets',
  'tokens:read': 'read the OAuth tokens of users',
};

/** The API keys of the workspace, and the browsers that are signed in. */
export function KeysPage() {
  useTitle('Keys');
  const { w } = useParams({ from: '/o/$w' });
  const isAdmin = useMay('admin');
  const queries = useQueryClient();
  const [creating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiKey>();
  const keys = useQuery({
    queryKey: ['keys', w],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/api-key', { signal })),
  });
  const sessions = useQuery({
    queryKey: ['console-sessions', w],
    queryFn: ({ signal }) => answered(api.GET('/v1/console/sessions', { signal })),
    enabled: isAdmin,
  });
  const end = useMutation({
    mutationFn: (id: string) =>
      answered(
        api.DELETE('/v1/console/sessions/{console_session_id}', { params: { path: { console_session_id: id } } }),
      ),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['console-sessions', w] });
      void queries.invalidateQueries({ queryKey: ['session'] });
    },
  });
  return (
    <Page
      title="Keys"
      aside={
        <Action scope="write" kind="main" onClick={() => setCreating(true)}>
          Create a key …
        </Action>
      }
    >
      {keys.error && (
        <Problem error={keys.error} reading="see the keys of this workspace" retry={() => void keys.refetch()} />
      )}
      {!keys.data && !keys.error && <Skeleton />}
      {keys.data && <Keys keys={keys.data} onRevoke={setRevoked} />}
      <div className={css.gap} />
      <Section title="Browsers that are signed in">
        {!isAdmin && <p className={css.quiet}>Your key lacks the scope admin, which shows them.</p>}
        {sessions.error && <Problem error={sessions.error} retry={() => void sessions.refetch()} />}
        {end.error && <Problem error={end.error} />}
        {sessions.data && <Sessions sessions={sessions.data} onEnd={(id) => end.mutate(id)} busy={end.isPending} />}
      </Section>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      {revoked && <RevokeDialog revoked={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  );
}

function Keys({ keys, onRevoke }: { keys: readonly ApiKey[]; onRevoke: (key: ApiKey) => void }) {
  const names = new Map(keys.map(({ id, description }) => [id, description]));
  return (
    <List
      label="API keys"
      items={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'For',
          kind: 'name',
          cell: ({ description, short_key }) => <Text title={description}>{middle(description || short_key, 40)}</Text>,
        },
        { title: 'Key', cell: ({ short_key }) => <code>{short_key}</code> },
        {
          title: 'May',
          kind: 'wide',
          cell: ({ scopes, organization }) => (
            <span className={css.quiet}>
              {scopes.join(', ')}
              {organization && ', in every workspace'}
            </span>
          ),
        },
        {
          title: 'Made by',
          cell: ({ made_by }) => (
            <span className={css.quiet} title={made_by ? names.get(made_by) : undefined}>
              {made_by && <Text>{middle(names.get(made_by) ?? 'another key', 24)}</Text>}
            </span>
          ),
        },
        {
          title: 'Ends',
          kind: 'number',
          cell: ({ expires_at }) => (expires_at === null ? <span className={css.quiet}>never</span> : date(expires_at)),
        },
        { title: 'Made', kind: 'number', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          title: 'Actions',
          kind: 'end',
          cell: (key) => (
            <Action scope="write" kind="quiet" aria-label={`Revoke ${key.description}`} onClick={() => onRevoke(key)}>
              Revoke …
            </Action>
          ),
        },
      ]}
    />
  );
}

function Sessions({
  sessions,
  onEnd,
  busy,
}: {
  sessions: readonly Session[];
  onEnd: (id: string) => void;
  busy: boolean;
}) {
  return (
    <List
      label="Browsers that are signed in"
      items={sessions}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'With the key',
          kind: 'name',
          cell: ({ key, current }) => (
            <>
              <Text>{key.description || key.short_key}</Text>
              {current && <span className={css.badge}>this browser</span>}
            </>
          ),
        },
        { title: 'From', kind: 'wide', cell: ({ address }) => <Text>{address}</Text> },
        { title: 'Last used', kind: 'number', cell: ({ used_at }) => <Time at={used_at} /> },
        { title: 'Signed in', kind: 'number', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          title: 'Actions',
          kind: 'end',
          cell: ({ id, key, current }) => (
            <Action
              scope="admin"
              kind="quiet"
              disabled={busy || current}
              title={current ? 'Sign out ends the session of this browser.' : undefined}
              aria-label={`Sign out the browser of ${key.description}`}
              onClick={() => onEnd(id)}
            >
              Sign out
            </Action>
          ),
        },
      ]}
    />
  );
}

/** Makes a key and shows it once; the dialog stays until it is closed by hand. */
function CreateDialog({ onClose }: { onClose: () => void }) {
  const { w } = useParams({ from: '/o/$w' });
  const queries = useQueryClient();
  const [description, setDescription] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['read', 'write']);
  const [days, setDays] = useState('');
  const [made, setMade] = useState<string>();
  const create = useMutation({
    mutationFn: async () => {
      const expires_at = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      const body = { description, scopes: [...scopes], ...(expires_at !== null && { expires_at }) };
      setMade((await answered(api.POST('/api/v1/api-key', { body: body as never }))).key);
    },
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys', w] }),
  });
  if (made !== undefined) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <p className={css.lead}>It is shown now, and never again. Keep it where your secrets are.</p>
        <SecretValue value={made} />
        <div className={css.done}>
          <Button kind="main" onClick={onClose}>
            I have kept it
          </Button>
        </div>
      </Dialog>
    );
  }
  const tick = (scope: Scope) =>
    setScopes((now) => (now.includes(scope) ? now.filter((one) => one !== scope) : [...now, scope]));
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <Form
        action="Create"
        busy={create.isPending}
        disabled={scopes.length === 0 || description.trim() === ''}
        error={create.error}
        labels={LABELS}
        onSubmit={() => create.mutate()}
        onCancel={onClose}
      >
        <TextField
          label={LABELS.description}
          value={description}
          placeholder="ci-deploy"
          hint="Lists and the audit log show it."
          onChange={(event) => setDescription(event.target.value)}
        />
        <fieldset className={css.scopes}>
          <legend>{LABELS.scopes}</legend>
          {Object.entries(SCOPES).map(([scope, text]) => (
            <label key={scope}>
              <input type="checkbox" checked={scopes.includes(scope as Scope)} onChange={() => tick(scope as Scope)} />
              <span>
                <b>{scope}</b> <span className={css.quiet}>{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Choice
          label={LABELS.expires_at}
          value={days}
          options={ENDS}
          onChange={(event) => setDays(event.target.value)}
        />
      </Form>
    </Dialog>
  );
}

function RevokeDialog({ revoked, onClose }: { revoked: ApiKey; onClose: () => void }) {
  const { w } = useParams({ from: '/o/$w' });
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => answered(api.DELETE('/api/v1/api-key/{id}', { params: { path: { id: revoked.id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['keys', w] });
      void queries.invalidateQueries({ queryKey: ['console-sessions', w] });
      void queries.invalidateQueries({ queryKey: ['session'] });
      onClose();
    },
  });
  return (
    <Dialog title="Revoke this key" onClose={onClose}>
      <Form
        action="Revoke"
        danger
        busy={revoke.isPending}
        error={revoke.error}
        onSubmit={() => revoke.mutate()}
        onCancel={onClose}
      >
        <p className={css.lead}>
          Requests with{' '}
          <b>
            <Text>{revoked.description || revoked.short_key}</Text>
          </b>{' '}
          (<code>{revoked.short_key}</code>) are refused from now on. Keys that it made, and browsers that are signed in
          with it, end as well.
        </p>
      </Form>
    </Dialog>
  );
}

function date(time: string): string {
  return time.slice(0, 10);
}
