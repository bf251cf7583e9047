import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { ApiError } from '../../api/errors';
import { merged, useAddress } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { ErrorPage } from '../../ui/error-page';
import { Filters, Pick } from '../../ui/form';
import { middle } from '../../ui/format';
import { List, More, Nothing } from '../../ui/list';
import { Button, Copy, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { save } from '../../ui/save';
import css from './audit.module.css';
import {
  type Entry,
  exported,
  FILTERS,
  SINCE,
  useChoices,
  useDeploymentNames,
  useEntries,
  useRequestChanges,
} from './data';
import { folded, spoken, thingOf, type Told, verbOf } from './sentences';

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
  const choices = useChoices().data;
  const things = choices?.resources.map(({ id: uid, type }) => ({ uid, type })) ?? [];
  const names = useDeploymentNames([...entries.flatMap(({ resources }) => resources), ...things]);
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
          <a className={css.verify} href="/v1/audit/keys" download="keys.json">
            Keep the keys
          </a>
          <Verify />
        </>
      }
    >
      <Filters>
        <Pick label="Since" value={search.since ?? ''} onChange={filter('since')} options={TIMES} />
        <Pick label="Outcome" value={search.outcome ?? ''} onChange={filter('outcome')} options={OUTCOMES} />
        <Pick
          label="Person"
          value={search.actor ?? ''}
          onChange={filter('actor')}
          options={chosen('Anybody', search.actor, choices?.actors.flatMap(personOf) ?? [])}
        />
        <Pick
          label="Thing"
          value={search.resource_id ?? ''}
          onChange={filter('resource_id')}
          options={chosen(
            'Anything',
            search.resource_id,
            choices?.resources.map(({ id, type }) => [id, names.get(id) ?? thingOf({ uid: id, type })] as const) ?? [],
          )}
        />
        <Pick
          label="Operation"
          value={search.operations ?? ''}
          onChange={filter('operations')}
          options={chosen(
            'Any operation',
            search.operations,
            choices?.operations.map(({ operation }) => [operation, spoken(operation)] as const) ?? [],
          )}
        />
        {search.request_id && <span className={css.chip}>one request</span>}
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

/** Choices of a filter; what the address asks for is among them. */
function chosen(any: string, now: string | undefined, choices: readonly (readonly [string, string])[]) {
  return { '': any, ...(now && { [now]: now }), ...Object.fromEntries(choices) };
}

function personOf({ id, name }: Schemas['AuditActor']): [string, string][] {
  return isKey(id) ? [[id, who({ name, credential_uid: id })]] : [];
}

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly names: ReadonlyMap<string, string>;
  readonly old: boolean;
}

function Entries({ entries, names, old }: EntriesProps) {
  const { search } = useAddress();
  return (
    <List
      label="Audit log"
      items={folded(entries)}
      old={old}
      keyOf={({ first }) => first.metadata.uid}
      columns={[
        { title: 'When', cell: ({ first }) => <Time at={new Date(first.time).toISOString()} /> },
        { title: 'What happened', kind: 'name', cell: (told) => <Sentence told={told} names={names} /> },
        {
          title: 'From',
          cell: ({ first }) => <span className={css.quiet}>{first.src_endpoint.ip ?? '–'}</span>,
        },
        {
          title: 'Entry',
          kind: 'end',
          cell: ({ first: { metadata, api } }) => (
            <Link
              to="."
              resetScroll={false}
              search={merged({ entry: search.entry === metadata.uid ? undefined : metadata.uid })}
              aria-expanded={search.entry === metadata.uid}
              aria-label={`Entry: ${spoken(api.operation)}`}
            >
              Entry
            </Link>
          ),
        },
      ]}
      below={(told) => told.first.metadata.uid === search.entry && <Details told={told} names={names} />}
    />
  );
}

/** The sentence about an entry: person, action, thing and reason. */
function Sentence({ told: { first, entries, isSignIn }, names }: { told: Told; names: ReadonlyMap<string, string> }) {
  const { user } = first.actor;
  const { reason } = first.unmapped.original_audit_log.enrichments;
  const refused = first.http_response.code !== null;
  return (
    <span className={css.sentence}>
      {user.credential_uid ? (
        <Link
          className={css.link}
          to="."
          search={merged({ actor: isKey(user.credential_uid) ? user.credential_uid : undefined, entry: undefined })}
        >
          <Text title={who(user)}>{middle(who(user), 40)}</Text>
        </Link>
      ) : (
        <span className={css.quiet}>an unknown key</span>
      )}{' '}
      {refused ? <Status tone="bad">{verbOf(first)}</Status> : isSignIn ? 'signed in or out' : verbOf(first)}
      {isSignIn ? (
        entries.length > 1 && ` (${entries.length} entries)`
      ) : (
        <>
          {' '}
          <What entry={first} names={names} />
          {entries.length > 1 && <span className={css.quiet}> and {entries.length - 1} more</span>}
        </>
      )}
      {reason && (
        <>
          : <Text>{reason}</Text>
        </>
      )}
    </span>
  );
}

/** All entries of a line, and what they changed. */
function Details({ told, names }: { told: Told; names: ReadonlyMap<string, string> }) {
  return (
    <>
      {told.entries.toReversed().map((entry) => (
        <Detail key={entry.metadata.uid} entry={entry} names={names} isOne={told.entries.length === 1} />
      ))}
    </>
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
  return <span title={first.uid}>{thingOf(first) + more}</span>;
}

interface DetailProps {
  readonly entry: Entry;
  readonly names: ReadonlyMap<string, string>;
  readonly isOne: boolean;
}

function Detail({ entry, names, isOne }: DetailProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { uid, http_method, url } = entry.http_request;
  const deployment = entry.resources.find(({ type }) => type === 'deployment');
  const changes = useRequestChanges(deployment?.uid, uid);
  const json = JSON.stringify(entry, null, 2);
  return (
    <div className={css.detail}>
      <p className={css.facts}>
        <span className={css.time}>{clock(entry.time)} UTC</span>
        {!isOne && (
          <span>
            {verbOf(entry)} <What entry={entry} names={names} />
          </span>
        )}
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
            History of the deployment
          </Link>
        )}
        <Copy kind="quiet" text={json}>
          Copy JSON
        </Copy>
      </p>
      {changes && <Changes changes={changes} none="Nothing that has a value of its own." />}
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
