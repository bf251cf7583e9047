import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/errors';
import { merged, useAddress } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { Filters, Pick, Typed } from '../../ui/form';
import { middle } from '../../ui/format';
import { List, More, Nothing } from '../../ui/list';
import { Button, Copy, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { save } from '../../ui/save';
import css from './audit.module.css';
import { type Entry, exported, FILTERS, SINCE, useDeploymentNames, useEntries } from './data';

const OUTCOMES = { '': 'Done and refused', success: 'Done', refused: 'Refused only' };
const TIMES = {
  '': 'Any time',
  ...Object.fromEntries(Object.entries(SINCE).map(([value, { text }]) => [value, text])),
};

/** The audit log: actions and their actors, and refused requests. */
export function AuditPage() {
  useTitle('Audit log');
  const { search, change } = useAddress();
  const [saving, setSaving] = useState<'no' | 'yes' | Error>('no');
  const log = useEntries(search);
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  const names = useDeploymentNames(entries);
  const filtered = [...FILTERS, 'since' as const].some((name) => search[name]);
  const filter = (name: string, how?: 'replace') => (value: string) =>
    change({ [name]: value || undefined, entry: undefined }, how);
  const drop = () => change(Object.fromEntries([...FILTERS, 'since'].map((name) => [name, undefined])));
  const download = async () => {
    setSaving('yes');
    try {
      save('audit-log.jsonl', await exported(search));
      setSaving('no');
    } catch (error) {
      setSaving(error as Error);
    }
  };
  if (log.error instanceof ApiError && log.error.status === 403) {
    return <ErrorPage error={log.error} thing="audit log" reading="read the audit log" />;
  }
  return (
    <Page
      title="Audit log"
      aside={
        <>
          <Button disabled={saving === 'yes'} onClick={() => void download()}>
            {saving === 'yes' ? 'Exporting …' : 'Export'}
          </Button>
          <Copy text={command(search)}>Copy as command</Copy>
          <Verify />
        </>
      }
    >
      <Filters>
        <Pick label="Since" value={search.since ?? ''} onChange={filter('since')} options={TIMES} />
        <Pick label="Outcome" value={search.outcome ?? ''} onChange={filter('outcome')} options={OUTCOMES} />
        <Typed
          label="Operations"
          main
          placeholder="Operations, as delete_deployment"
          value={search.operations ?? ''}
          onChange={filter('operations', 'replace')}
        />
        <Typed label="Resource id" value={search.resource_id ?? ''} onChange={filter('resource_id', 'replace')} />
        <Typed label="Request id" value={search.request_id ?? ''} onChange={filter('request_id', 'replace')} />
        {search.actor && <span className={css.chip}>one key</span>}
        {filtered && (
          <Button kind="quiet" onClick={drop}>
            Drop all filters
          </Button>
        )}
      </Filters>
      {saving instanceof Error && <Problem error={saving} />}
      {log.error && <Problem error={log.error} retry={() => void log.refetch()} />}
      {!log.data && !log.error && <Skeleton rows={10} />}
      {log.data && entries.length === 0 && (
        <Nothing title={filtered ? 'No entry passes these filters.' : 'Nothing has happened yet.'} />
      )}
      {entries.length > 0 && <Entries entries={entries} names={names} old={log.isPlaceholderData} />}
      <More query={log} />
    </Page>
  );
}

function Verify() {
  const { w } = useParams({ from: '/o/$w' });
  return (
    <Link to="/o/$w/audit/verify" params={{ w }} className={css.verify}>
      Verify a history
    </Link>
  );
}

function Entries({
  entries,
  names,
  old,
}: {
  entries: readonly Entry[];
  names: ReadonlyMap<string, string>;
  old: boolean;
}) {
  const { search } = useAddress();
  return (
    <List
      label="Audit log"
      items={entries}
      old={old}
      keyOf={({ metadata }) => metadata.uid}
      columns={[
        { title: 'Time (UTC)', cell: ({ time }) => <span className={css.time}>{clock(time)}</span> },
        {
          title: 'Who',
          cell: ({ actor: { user } }) =>
            user.credential_uid ? (
              <Link
                className={css.link}
                to="."
                search={merged({ actor: isKey(user.credential_uid) ? user.credential_uid : undefined })}
              >
                <Text title={who(user)}>{middle(who(user), 32)}</Text>
              </Link>
            ) : (
              <span className={css.quiet}>unknown key</span>
            ),
        },
        {
          title: 'Did',
          kind: 'name',
          cell: (entry) => (
            <Link
              to="."
              resetScroll={false}
              search={merged({ entry: search.entry === entry.metadata.uid ? undefined : entry.metadata.uid })}
              aria-expanded={search.entry === entry.metadata.uid}
            >
              {entry.http_response.code === null ? (
                entry.api.operation
              ) : (
                <Status tone="bad">{`refused ${entry.http_response.code}${entry.count > 1 ? ` × ${entry.count}` : ''}`}</Status>
              )}
            </Link>
          ),
        },
        { title: 'What', cell: (entry) => <What entry={entry} names={names} /> },
        {
          title: 'Why',
          kind: 'wide',
          cell: ({ unmapped }) => {
            const { reason } = unmapped.original_audit_log.enrichments;
            return reason && <Text>{reason}</Text>;
          },
        },
        { title: 'From', cell: ({ src_endpoint }) => <span className={css.quiet}>{src_endpoint.ip ?? '–'}</span> },
      ]}
      below={(entry) => entry.metadata.uid === search.entry && <Detail entry={entry} />}
    />
  );
}

function What({ entry, names }: { entry: Entry; names: ReadonlyMap<string, string> }) {
  const { w } = useParams({ from: '/o/$w' });
  const [first, ...others] = entry.resources;
  if (!first) {
    return (
      <code className={css.path} title={entry.http_request.url.path}>
        <Text>{`${entry.http_request.http_method} ${entry.http_request.url.path}`.trim() || '–'}</Text>
      </code>
    );
  }
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  if (first.type === 'deployment') {
    return (
      <Link
        className={css.link}
        to="/o/$w/host/deployments/$deployment"
        params={{ w, deployment: first.uid }}
        title={first.uid}
      >
        <Text>{middle(names.get(first.uid) ?? `deployment ${first.uid.slice(0, 8)}`, 40) + more}</Text>
      </Link>
    );
  }
  return (
    <span title={first.uid}>
      {first.type ?? 'resource'} <code>{first.uid.slice(0, 8)}</code>
      {more}
    </span>
  );
}

function Detail({ entry }: { entry: Entry }) {
  const { w } = useParams({ from: '/o/$w' });
  const { uid, http_method, url } = entry.http_request;
  const deployment = entry.resources.find(({ type }) => type === 'deployment');
  const json = JSON.stringify(entry, null, 2);
  return (
    <div className={css.detail}>
      <p className={css.facts}>
        {http_method !== '' && (
          <code>
            <Text>{`${http_method} ${url.path}`}</Text>
          </code>
        )}
        {uid !== null && (
          <Link to="." search={merged({ request_id: uid })}>
            All of this request
          </Link>
        )}
        {deployment && (
          <Link
            to="/o/$w/host/deployments/$deployment"
            params={{ w, deployment: deployment.uid }}
            search={{ tab: 'history' }}
          >
            History of the deployment, with what changed
          </Link>
        )}
        <Copy kind="quiet" text={json}>
          Copy JSON
        </Copy>
      </p>
      <details>
        <summary>As OCSF</summary>
        <pre tabIndex={0}>
          <Text>{json}</Text>
        </pre>
      </details>
    </div>
  );
}

function who({ name, credential_uid }: Entry['actor']['user']): string {
  if (name) return name;
  return isKey(credential_uid!) ? `key ${credential_uid!.slice(0, 8)}` : credential_uid!.replace(/^system:/, '');
}

function isKey(actor: string): boolean {
  return !actor.startsWith('system:');
}

function clock(time: number): string {
  return new Date(time).toISOString().slice(0, 23).replace('T', ' ');
}

/** The same list on the command line. */
function command(search: Record<string, string | undefined>): string {
  const options: Record<string, string | undefined> = {
    since: search.since,
    operation: search.operations,
    actor: search.actor,
    resource: search.resource_id,
    request: search.request_id,
  };
  const given = Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, quoted(value)] : []));
  return ['fairlead audit log', ...given, ...(search.outcome === 'refused' ? ['--refused'] : [])].join(' ');
}

function quoted(word: string): string {
  return /^[\w.,:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
