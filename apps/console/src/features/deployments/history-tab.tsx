import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { merged, useAddress } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { Pick } from '../../ui/form';
import { List, More } from '../../ui/list';
import { Copy, Problem, Skeleton, Text, Time } from '../../ui/parts';
import { elements, useHistory, useWorkspace } from './data';
import css from './deployments.module.css';
import { changesOf, folded, statuses, type Step } from './history';
import { causeOf, EVENT_TITLES, type HistoryEntry, makerOf, revisionName, type Shown, spoken, titleOf } from './words';

const ALL_TYPES = { '': 'All kinds', ...Object.fromEntries(EVENT_TITLES) };
const FOLDS = { '': 'Folded by request', full: 'Every event' };

interface HistoryProps {
  readonly deployment: Pick<Shown['deployment'], 'id'>;
  readonly revisions: Shown['revisions'];
  /** True when the deployment has been deleted, so that only its history is left. */
  readonly gone?: boolean;
}

/** All that happened to a deployment, the newest first; what one request caused is one line unless it is unfolded. */
export function History({ deployment, revisions, gone = false }: HistoryProps) {
  const { search, change } = useAddress();
  const w = useWorkspace();
  const history = useHistory(deployment.id, search.types);
  const entries = elements(history);
  const [actor, setActor] = useState('');
  const full = search.fold === 'full';
  const actors = [...new Set(entries.map(makerOf))];
  const kept = entries.filter((entry) => actor === '' || makerOf(entry) === actor);
  const steps: Step[] = full ? kept.map((cause) => ({ cause, entries: [cause] })) : folded(kept);
  const total = history.data?.pages[0]?.body.total;
  const names = new Map(revisions.map((revision) => [revision.id, revisionName(revision)]));
  const path = `/v2/deployments/${deployment.id}/history`;
  const command = `curl -sS "${window.location.origin}${path}" -H "x-api-key: $FAIRLEAD_KEY"`;
  return (
    <>
      <div className={css.tools}>
        <Pick
          label="Kind"
          value={search.types ?? ''}
          onChange={(types) => change({ types: types || undefined })}
          options={ALL_TYPES}
        />
        <Pick
          label="By"
          value={actor}
          onChange={setActor}
          options={{ '': 'By anybody', ...Object.fromEntries(actors.map((name) => [name, name])) }}
        />
        <Pick
          label="Fold"
          value={search.fold ?? ''}
          onChange={(fold) => change({ fold: fold || undefined })}
          options={FOLDS}
        />
        <span className={css.faint}>{total !== undefined && `${total.toLocaleString('en')} events`}</span>
        <span className={css.end}>
          <Copy kind="quiet" text={command}>
            Copy as curl
          </Copy>
          <a href="/v1/audit/keys" download="keys.json">
            Keep the keys
          </a>
          <a href={`${path}/export`} download>
            Export, signed
          </a>
          <Link to="/o/$w/audit/verify" params={{ w }}>
            Verify
          </Link>
        </span>
      </div>
      {history.error && <Problem error={history.error} retry={() => void history.refetch()} />}
      {!history.data && !history.error && <Skeleton />}
      {history.data && (
        <List
          label="History"
          items={steps}
          keyOf={({ cause, entries: [newest] }) => `${newest!.version} ${cause.version} ${newest!.time}`}
          columns={[
            {
              title: 'What',
              kind: 'name',
              cell: ({ cause, entries: all }) => (
                <Link
                  to="."
                  resetScroll={false}
                  search={merged({ entry: isOpen(search.entry, all) ? undefined : String(cause.version) })}
                  aria-expanded={isOpen(search.entry, all)}
                >
                  {what(cause)}
                </Link>
              ),
            },
            { title: 'Details', kind: 'wide', cell: ({ entries: all }) => <Summary entries={all} names={names} /> },
            { title: 'By', cell: ({ cause }) => <Text>{makerOf(cause)}</Text> },
            {
              title: 'Version',
              kind: 'number',
              cell: ({ entries: [newest] }) =>
                gone ? (
                  newest!.version
                ) : (
                  <Link
                    to="."
                    search={(() => ({ version: String(newest!.version) })) as never}
                    title="The deployment as it was then"
                  >
                    {newest!.version}
                  </Link>
                ),
            },
            { title: 'When', kind: 'number', cell: ({ cause }) => <Time at={cause.time} /> },
          ]}
          below={({ entries: all }) => isOpen(search.entry, all) && <Details entries={all} />}
        />
      )}
      {entries.length > 0 && kept.length === 0 && (
        <p className={css.quiet}>Nothing of this key on the pages that are loaded.</p>
      )}
      <More query={history} />
    </>
  );
}

function isOpen(entry: string | undefined, entries: Step['entries']): boolean {
  return entry !== undefined && entries.some(({ version }) => String(version) === entry);
}

/** Title of a step, by the entry that began it. */
function what(entry: HistoryEntry): string {
  const { type, actor } = entry;
  return type === 'RevisionCreated' && !actor?.startsWith('system:') ? 'Redeployed' : titleOf(entry);
}

function Summary({ entries, names }: { entries: Step['entries']; names: ReadonlyMap<string, string> }) {
  const reason = causeOf(entries.at(-1)!);
  const changes = changesOf(entries);
  const told = statuses(entries);
  const read = [...new Set(entries.flatMap(({ secrets_read }) => secrets_read ?? []))];
  const [moved] = told;
  const made = entries.some(({ type }) => type === 'DeploymentCreated');
  return (
    <>
      {reason && (
        <>
          <q>
            <Text>{reason}</Text>
          </q>{' '}
        </>
      )}
      <span className={css.quiet}>
        {[
          !made &&
            changes.length > 0 &&
            changes.length <= 3 &&
            changes.map(({ member }) => member.replace(/^.*\./, '')).join(', '),
          !made && changes.length > 3 && `${changes.length} members`,
          moved &&
            `${names.get(moved.revision) ?? 'revision'}: ${told.map(({ status }) => spoken(status)).join(' → ')}`,
          read.length > 0 && `${moved ? 'with ' : ''}${read.join(', ')}`,
        ]
          .filter(Boolean)
          .map((text, at) => (
            <Text key={at}>{String(text)}</Text>
          ))}
      </span>
    </>
  );
}

function Details({ entries }: { entries: Step['entries'] }) {
  const w = useWorkspace();
  const { request_id, time } = entries.at(-1)!;
  return (
    <div className={css.difference}>
      <Changes changes={changesOf(entries)} none="No setting differs." />
      <ol className={css.events}>
        {[...entries].reverse().map((entry) => (
          <li key={`${entry.version} ${entry.type}`}>
            <code>{entry.version}</code> {titleOf(entry)} <span className={css.faint}>{entry.time.slice(11, 23)}</span>
          </li>
        ))}
      </ol>
      <p className={css.faint}>
        {time.replace('T', ' ').replace('Z', ' UTC')}
        {request_id && (
          <>
            {' · '}
            <Link to="/o/$w/audit" params={{ w }} search={{ request_id }}>
              request {request_id}
            </Link>
          </>
        )}
      </p>
    </div>
  );
}
