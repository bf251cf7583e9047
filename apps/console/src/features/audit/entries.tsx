import { Link } from '@tanstack/react-router';
import { merged, useAddress } from '../../ui/address';
import type { Column } from '../../ui/columns/list-columns';
import { middle } from '../../ui/format';
import { Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './audit.module.css';
import type { Named } from './data';
import { What } from './details';
import { isKey, spoken, type Told, verbOf, who } from './sentences';

/** The columns of the audit log; `names` are those of things, by their ids. */
export function useColumns(names: ReadonlyMap<string, Named>): readonly Column<Told>[] {
  const { search } = useAddress();
  return [
    { title: 'When', cell: ({ first }) => <Time at={new Date(first.time).toISOString()} /> },
    { title: 'What happened', kind: 'name', cell: (told) => <Sentence told={told} names={names} /> },
    {
      title: 'From',
      cell: ({ first }) => <span className={css.quiet}>{first.src_endpoint.ip ?? '–'}</span>,
    },
    {
      title: 'Outcome',
      hidden: true,
      cell: ({ first: { http_response } }) =>
        http_response.code === null ? 'done' : <Status tone="bad">{`refused ${http_response.code}`}</Status>,
    },
    { title: 'Operation', hidden: true, cell: ({ first: { api } }) => <Text>{spoken(api.operation)}</Text> },
    { title: 'Key', hidden: true, cell: ({ first: { actor } }) => <Cut>{actor.user.credential_uid}</Cut> },
    { title: 'Thing', hidden: true, cell: ({ first: { resources } }) => <Cut>{resources[0]?.uid}</Cut> },
    { title: 'Request', hidden: true, cell: ({ first: { http_request } }) => <Cut>{http_request.uid}</Cut> },
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
  ];
}

/** The beginning of an id. */
function Cut({ children }: { children: string | null | undefined }) {
  if (!children) return null;
  return (
    <code title={children}>
      <Text>{middle(children, 20)}</Text>
    </code>
  );
}

/** The sentence about an entry: person, action, thing and reason. */
function Sentence({ told: { first, entries, isSignIn }, names }: { told: Told; names: ReadonlyMap<string, Named> }) {
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
