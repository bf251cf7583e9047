import { Suspense, useState } from 'react';
import { useAddress } from '../../../ui/address';
import { Filters, Pick, Typed } from '../../../ui/form';
import { late } from '../../../ui/late';
import { Button, Problem, Skeleton } from '../../../ui/parts';
import { useShortcuts } from '../../../ui/shortcuts';
import { LateLines } from './late-lines';
import { type LogChoice, readLog, useLogLines, wholeLog } from './log-lines';
import css from './logs.module.css';
import { isUnderWay, revisionName, type Shown, spoken } from '../words';

/** It comes after the lines, which are what a reader waits for. */
const Histogram = late(async () => (await import('./log-histogram')).Histogram);

const LEVELS = {
  '': 'All levels',
  DEBUG: 'Debug',
  INFO: 'Info',
  WARNING: 'Warning',
  ERROR: 'Error',
  CRITICAL: 'Critical',
};
/** Choices for the lines of a program: a level with those above it. */
const LEAST = Object.fromEntries(
  Object.entries(LEVELS).map(([level, name]) => [level, level && level !== 'CRITICAL' ? `${name} or above` : name]),
);
const EVERY = 'all';

/** Output of builds, deployments and programs: the newest lines, followed until one scrolls up. */
export function Logs({ deployment, revisions }: Shown) {
  const { search, change } = useAddress();
  const newest = revisions[0]!;
  const chosen = revisions.find(({ id }) => id === search.revision) ?? newest;
  const isEvery = search.revision === EVERY;
  const runsHere = deployment.executor === 'local';
  const usual = search.revision === undefined && /BUILD/.test(newest.status) ? 'build' : 'deploy';
  const isLive = search.revision === undefined && newest.id === deployment.active_revision_id;
  const phase = (search.log ?? (runsHere && isLive ? 'run' : usual)) as LogChoice['phase'];
  const isProgram = phase === 'run';
  const choice: LogChoice = {
    deployment: deployment.id,
    revision: isEvery || isProgram ? undefined : chosen.id,
    phase: isEvery && !isProgram ? 'deploy' : phase,
    level: search.level,
    query: search.query,
  };
  const kinds = {
    ...((runsHere || isProgram) && { run: 'Program' }),
    deploy: 'Deploy log',
    ...(!isEvery && { build: 'Build log' }),
  };
  const [follow, setFollow] = useState(search.line === undefined);
  const [wrap, setWrap] = useState(false);
  const [local, setLocal] = useState(false);
  const [place, setPlace] = useState(search.line);
  const log = useLogLines(choice, follow, place);
  const mark = (line: string) => change({ line, log: phase, ...(!isProgram && { revision: chosen.id }) }, 'replace');
  const go = (line: string) => {
    setFollow(false);
    setPlace(line);
    mark(line);
  };
  const [end, setEnd] = useState(false);
  const nextError = async () => {
    const from = search.line ?? undefined;
    const page = { order: 'asc', limit: 1, ...(from !== undefined && { offset: from }) } as const;
    const { logs } = await readLog({ ...choice, level: 'ERROR' }, page);
    setEnd(logs.length === 0);
    if (logs[0]) go(logs[0].id);
  };
  useShortcuts({ e: () => void nextError() });
  const options = {
    ...Object.fromEntries(revisions.map((one) => [one.id, `${revisionName(one)} · ${spoken(one.status)}`])),
    [EVERY]: 'All revisions',
  };
  const download = async () => {
    const [{ save }, text] = await Promise.all([import('../../../ui/save'), wholeLog(choice)]);
    save(`${deployment.name}-${choice.phase}.log`, text);
  };
  return (
    <>
      <Filters>
        {Object.keys(kinds).length > 1 && (
          <Pick
            label="Log"
            value={choice.phase}
            onChange={(next) => change({ log: next, line: undefined })}
            options={kinds}
          />
        )}
        {!isProgram && (
          <Pick
            label="Revision"
            value={isEvery ? EVERY : chosen.id}
            onChange={(revision) => change({ revision, line: undefined })}
            options={options}
          />
        )}
        <Pick
          label="Level"
          value={search.level ?? ''}
          onChange={(level) => change({ level: level || undefined, line: undefined })}
          options={isProgram ? LEAST : LEVELS}
        />
        <Typed
          label="Lines that contain"
          main
          value={search.query ?? ''}
          onChange={(query) => change({ query: query || undefined, line: undefined }, 'replace')}
        />
        <span className={css.switches}>
          <Button kind="quiet" onClick={() => void nextError()} title="e">
            {end ? 'No further error' : 'Next error'}
          </Button>
          <Switch label="Follow" on={follow} onChange={setFollow} />
          <Switch label="Wrap" on={wrap} onChange={setWrap} />
          <Switch label="Local time" on={local} onChange={setLocal} />
          <Button kind="quiet" onClick={() => void download()}>
            Download
          </Button>
        </span>
      </Filters>
      {log.error && <Problem error={log.error} />}
      {!log.loaded && !log.error && <Skeleton rows={10} />}
      {log.loaded && log.lines.length === 0 && (
        <p className={css.nothing} role="status">
          {search.level || search.query
            ? 'No line passes these filters.'
            : isProgram || isUnderWay(chosen.status)
              ? 'Nothing has been printed yet. Lines appear here by themselves.'
              : `This revision has printed nothing ${choice.phase === 'build' ? 'while it was built' : 'yet'}.`}
        </p>
      )}
      <Suspense>
        <Histogram choice={choice} onLine={go} />
      </Suspense>
      {log.lines.length > 0 && (
        <Suspense fallback={<Skeleton rows={10} />}>
          <LateLines
            key={place}
            lines={log.lines}
            before={log.before}
            older={log.older}
            more={log.more}
            follow={follow}
            onFollow={setFollow}
            wrap={wrap}
            local={local}
            marked={search.line}
            onMark={mark}
          />
        </Suspense>
      )}
    </>
  );
}

function Switch({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <button type="button" className={css.switch} aria-pressed={on} onClick={() => onChange(!on)}>
      {label}
    </button>
  );
}
