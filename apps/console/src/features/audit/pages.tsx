import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { download, type Schemas } from '../../api/client';
import { ApiError } from '../../api/errors';
import { Action } from '../../ui/action';
import { useAddress } from '../../ui/address';
import { ColumnsButton } from '../../ui/columns/list-columns';
import { ErrorPage } from '../../ui/error-page';
import { Filters, Pick } from '../../ui/form';
import { List, More, Nothing } from '../../ui/list';
import { Button, Copy, Page, Problem, Skeleton, useTitle } from '../../ui/parts';
import { save } from '../../ui/save';
import { SavedViews } from '../../ui/views/saved-views';
import css from './audit.module.css';
import { exported, FILTERS, type Named, SINCE, useChoices, useNames, useEntries } from './data';
import { Details } from './details';
import { useColumns } from './entries';
import { folded, isKey, spoken, thingOf, who } from './sentences';

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
  const names = useNames([...entries.flatMap(({ resources }) => resources), ...things]);
  const columns = useColumns(names);
  const filtered = [...FILTERS, 'since' as const].some((name) => search[name]);
  const filter = (name: string, how?: 'replace') => (value: string) =>
    change({ [name]: value || undefined, entry: undefined }, how);
  const drop = () => change(Object.fromEntries([...FILTERS, 'since'].map((name) => [name, undefined])));
  const signed = useMutation({
    mutationFn: async () => save('workspace.jsonl', await download('/v1/audit/export')),
  });
  const saveEntries = async () => {
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
          <Button disabled={saving === 'yes'} onClick={() => void saveEntries()}>
            {saving === 'yes' ? 'Exporting …' : 'Export'}
          </Button>
          <Copy text={command(search)}>Copy as command</Copy>
          <a className={css.verify} href="/v1/audit/keys" download="keys.json">
            Keep the keys
          </a>
          <Action
            scope="admin"
            title="Everything of this workspace that the log holds, also whole addresses of webhooks"
            disabled={signed.isPending}
            onClick={() => signed.mutate()}
          >
            {signed.isPending ? 'Exporting all …' : 'Export, signed'}
          </Action>
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
            choices?.resources.map(
              ({ id, type }) => [id, choiceOf(names.get(id)) ?? thingOf({ uid: id, type })] as const,
            ) ?? [],
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
        <SavedViews page="audit" />
        <ColumnsButton list="audit" columns={columns} />
        {search.request_id && <span className={css.chip}>one request</span>}
        {filtered && (
          <Button kind="quiet" onClick={drop}>
            Drop all filters
          </Button>
        )}
      </Filters>
      {saving instanceof Error && <Problem error={saving} />}
      {signed.error && <Problem error={signed.error} retry={() => signed.mutate()} />}
      {log.error && <Problem error={log.error} retry={() => void log.refetch()} />}
      {!log.data && !log.error && <Skeleton rows={10} />}
      {log.data && entries.length === 0 && (
        <Nothing title={filtered ? 'No entry passes these filters.' : 'Nothing has happened yet.'} />
      )}
      {entries.length > 0 && (
        <List
          name="audit"
          label="Audit log"
          items={folded(entries)}
          old={log.isPlaceholderData}
          keyOf={({ first }) => first.metadata.uid}
          columns={columns}
          below={(told) => told.first.metadata.uid === search.entry && <Details told={told} names={names} />}
        />
      )}
      <More query={log} />
    </Page>
  );
}

function Verify() {
  const { w } = useParams({ from: '/o/$w' });
  return (
    <Link to="/o/$w/audit/verify" params={{ w }} className={css.verify}>
      Verify an export
    </Link>
  );
}

/** Choices of a filter; what the address asks for is among them. */
function chosen(any: string, now: string | undefined, choices: readonly (readonly [string, string])[]) {
  return { '': any, ...(now && { [now]: now }), ...Object.fromEntries(choices) };
}

/** A deployment and its project have one name. */
function choiceOf(named: Named | undefined): string | undefined {
  return named && `${named.name}, ${named.noun}`;
}

function personOf({ id, name }: Schemas['AuditActor']): [string, string][] {
  return isKey(id) ? [[id, who({ name, credential_uid: id })]] : [];
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
