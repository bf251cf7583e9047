import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { answered, api } from '../../api/client';
import { useAddress } from '../../ui/address';
import { Changes } from '../../ui/changes';
import { Facts } from '../../ui/list';
import { Button, Problem, Skeleton, Text, Time } from '../../ui/parts';
import { type useHistory, useWorkspace } from './data';
import css from './deployments.module.css';
import { between } from './history';
import {
  artefact,
  causeOf,
  type Deployment,
  deploymentWord,
  type HistoryEntry,
  makerOf,
  type Revision,
  titleOf,
  withSources,
} from './words';

const MOST_MARKS = 1000;

interface TravelProps {
  readonly deployment: Deployment;
  readonly entries: readonly HistoryEntry[];
  readonly query: ReturnType<typeof useHistory>;
  readonly revisions: readonly Revision[];
}

/** A slider over the versions of a deployment: what it was then, and what differs from now or from a second version. */
export function TimeTravel({ deployment, entries, query, revisions }: TravelProps) {
  const { search, change } = useAddress();
  const events = entries.filter(({ type }) => type !== 'SecretsRead');
  const last = events[0]?.version ?? 1;
  const chosen = clamp(search.version, last);
  const other = clamp(search.to, last) ?? last;
  const version = chosen ?? last;
  const reached = entries.at(-1)?.version ?? last;
  const needed = Math.min(version, other);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  // A difference needs every event in between.
  useEffect(() => {
    if (chosen !== undefined && reached > needed + 1 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [chosen, reached, needed, hasNextPage, isFetchingNextPage]);
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (entries.length === 0) return <Skeleton rows={3} />;
  const entry = events.find((one) => one.version === version);
  const complete = reached <= needed + 1 || !hasNextPage;
  const go = (to: number) =>
    change({ version: to === last && search.to === undefined ? undefined : String(to) }, 'replace');
  return (
    <section className={css.travel} aria-label="Time travel">
      <div className={css.place}>
        <p>
          <b>Version {version}</b> <span className={css.faint}>of {last}</span>
          {entry && (
            <>
              {' · '}
              {titleOf(entry)} <Time at={entry.time} /> <span className={css.faint}>by</span>{' '}
              <Text>{makerOf(entry)}</Text>
              {causeOf(entry) && (
                <>
                  {' '}
                  <q>
                    <Text>{causeOf(entry)!}</Text>
                  </q>
                </>
              )}
            </>
          )}
        </p>
        <span className={css.travelButtons}>
          <Button kind="quiet" aria-label="The version before" disabled={version <= 1} onClick={() => go(version - 1)}>
            ◂
          </Button>
          <Button
            kind="quiet"
            aria-label="The version after"
            disabled={version >= last}
            onClick={() => go(version + 1)}
          >
            ▸
          </Button>
          <Button
            kind="quiet"
            aria-pressed={search.to !== undefined}
            onClick={() =>
              change(search.to === undefined ? { version: String(version), to: String(last) } : { to: undefined })
            }
          >
            Compare two
          </Button>
          <Button disabled={chosen === undefined} onClick={() => change({ version: undefined, to: undefined })}>
            Now
          </Button>
        </span>
      </div>
      <div className={css.slider}>
        <Slider
          label="Version"
          value={version}
          last={last}
          text={entry ? `${version} of ${last}, ${titleOf(entry)}` : `${version} of ${last}`}
          onChange={go}
        />
        <Marks entries={events} last={last} />
        {search.to !== undefined && (
          <Slider
            label="Compared with version"
            value={other}
            last={last}
            text={`${other} of ${last}`}
            onChange={(to) => change({ to: String(to) }, 'replace')}
          />
        )}
      </div>
      {chosen === undefined ? (
        <State deployment={deployment} revisions={revisions} />
      ) : (
        <>
          <h2 className={css.subtitle}>
            {search.to === undefined ? 'What changed since' : `What differs in version ${other}`}
          </h2>
          {complete ? (
            <Changes changes={withSources(between(entries, version, other), revisions)} none="Nothing." />
          ) : (
            <Skeleton rows={2} />
          )}
          <h2 className={css.subtitle}>As it was</h2>
          <Past id={deployment.id} version={version} revisions={revisions} />
        </>
      )}
    </section>
  );
}

interface SliderProps {
  readonly label: string;
  readonly value: number;
  readonly last: number;
  readonly text: string;
  readonly onChange: (value: number) => void;
}

function Slider({ label, value, last, text, onChange }: SliderProps) {
  return (
    <input
      type="range"
      aria-label={label}
      aria-valuetext={text}
      min={1}
      max={Math.max(last, 2)}
      disabled={last < 2}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    />
  );
}

/** Where revisions were made, failed and went live. */
function Marks({ entries, last }: { entries: readonly HistoryEntry[]; last: number }) {
  const marks = entries.slice(0, MOST_MARKS).flatMap(({ version, type, changes }) => {
    const failed = changes.some(({ after }) => typeof after === 'string' && after.endsWith('_FAILED'));
    const kind = failed
      ? 'failed'
      : type === 'RevisionActivated'
        ? 'live'
        : type === 'DeploymentPatched'
          ? 'change'
          : undefined;
    return kind === undefined ? [] : [{ version, kind }];
  });
  const x = (version: number) => `${last < 2 ? 0 : ((version - 1) / (last - 1)) * 100}%`;
  return (
    <svg className={css.marks} aria-hidden="true">
      {marks.map(({ version, kind }) => (
        <line key={`${version} ${kind}`} className={css[kind]} x1={x(version)} x2={x(version)} y1="0" y2="8" />
      ))}
    </svg>
  );
}

/** The deployment as it was after so many events. */
function Past({ id, version, revisions }: { id: string; version: number; revisions: readonly Revision[] }) {
  const w = useWorkspace();
  const past = useQuery({
    queryKey: ['deployment', w, id, 'version', version],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}', {
          params: { path: { deployment_id: id }, query: { version } },
          signal,
        }),
      ),
    placeholderData: (old) => old,
    staleTime: Infinity,
  });
  if (past.error) return <Problem error={past.error} />;
  if (!past.data) return <Skeleton rows={2} />;
  return <State deployment={past.data} revisions={revisions} />;
}

/** State of a deployment at an earlier time: its artefact and settings. */
function State({ deployment, revisions }: { deployment: Deployment; revisions: readonly Revision[] }) {
  const { source_config, source_revision_config, secrets, secret_references } = deployment;
  const { source_tarball_path: path } = source_revision_config;
  const of = revisions.find(({ upload, source_revision_config: one }) => upload && one.source_tarball_path === path);
  const deploys = path && of ? artefact(of).short : artefact({ source_revision_config }).full;
  const spec = Object.entries(source_config.resource_spec ?? {}).filter(([, value]) => value !== null);
  const names = [...secrets, ...(secret_references ?? [])].map(({ name }) => name);
  return (
    <Facts
      facts={{
        Deploys: <Text>{deploys}</Text>,
        Status: deploymentWord(deployment),
        ...Object.fromEntries(
          spec.map(([member, value]) => [
            member,
            <Text key={member}>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</Text>,
          ]),
        ),
        Secrets: names.length > 0 ? <Text>{names.join(', ')}</Text> : 'none',
        'Push-to-deploy':
          source_config.build_on_push === null ? undefined : source_config.build_on_push ? 'on' : 'off or paused',
      }}
    />
  );
}

function clamp(text: string | undefined, last: number): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value >= 1 ? Math.min(value, last) : undefined;
}
