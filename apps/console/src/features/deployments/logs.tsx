import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useAddress } from '../../ui/address';
import { Filters, Pick, Typed } from '../../ui/form';
import { Button, Problem, Skeleton, Text } from '../../ui/parts';
import { save } from '../../ui/save';
import { spans } from './ansi';
import { type LogChoice, type LogLine, useLogLines, wholeLog } from './log-lines';
import css from './logs.module.css';
import { isUnderWay, revisionName, type Shown, spoken } from './words';

const LINE_PX = 20;
const NEAR_PX = 400;
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
  const log = useLogLines(choice, follow, search.line);
  const options = {
    ...Object.fromEntries(revisions.map((one) => [one.id, `${revisionName(one)} · ${spoken(one.status)}`])),
    [EVERY]: 'All revisions',
  };
  const download = async () => save(`${deployment.name}-${choice.phase}.log`, await wholeLog(choice));
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
      {log.lines.length > 0 && (
        <Lines
          lines={log.lines}
          before={log.before}
          older={log.older}
          more={log.more}
          follow={follow}
          onFollow={setFollow}
          wrap={wrap}
          local={local}
          marked={search.line}
          onMark={(line) => change({ line, log: phase, ...(!isProgram && { revision: chosen.id }) }, 'replace')}
        />
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

interface LinesProps {
  readonly lines: readonly LogLine[];
  readonly before: number;
  readonly older: boolean;
  readonly more: () => Promise<void>;
  readonly follow: boolean;
  readonly onFollow: (follow: boolean) => void;
  readonly wrap: boolean;
  readonly local: boolean;
  readonly marked?: string;
  /** Makes a link to a line. */
  readonly onMark?: (id: string) => void;
}

/** Lines of a log, of which those in view are laid out. */
export function Lines({ lines, before, older, more, follow, onFollow, wrap, local, marked, onMark }: LinesProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]!.id,
    overscan: 20,
  });
  const newest = lines.at(-1)!.id;

  useLayoutEffect(() => {
    if (follow) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follow, newest, wrap]);
  // What is looked at stays where it is when older lines come before it.
  const had = useRef(before);
  useLayoutEffect(() => {
    const added = before - had.current;
    had.current = before;
    if (added > 0) virtual.scrollToOffset((viewport.current?.scrollTop ?? 0) + added * LINE_PX);
  }, [before]);
  useEffect(() => {
    const at = lines.findIndex(({ id }) => id === marked);
    if (at >= 0 && !follow) virtual.scrollToIndex(at, { align: 'center' });
  }, []);

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = viewport.current!;
    const up = scrollTop < top.current;
    top.current = scrollTop;
    const atEnd = scrollHeight - scrollTop - clientHeight < LINE_PX;
    if (up && follow && !atEnd) onFollow(false);
    else if (!up && !follow && atEnd && marked === undefined) onFollow(true);
    if (older && scrollTop < NEAR_PX) void more();
  };
  return (
    <div
      ref={viewport}
      className={css.viewport}
      role="log"
      aria-label="Log"
      aria-live={follow ? 'polite' : 'off'}
      tabIndex={0}
      onScroll={onScroll}
    >
      <div className={css.sizer} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={wrap ? virtual.measureElement : undefined}
            data-index={index}
            className={wrap ? css.wrapped : css.place}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line line={lines[index]!} local={local} marked={lines[index]!.id === marked} onMark={onMark} />
          </div>
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  readonly line: LogLine;
  readonly local: boolean;
  readonly marked: boolean;
  readonly onMark?: (id: string) => void;
}

const Line = memo(function Line({ line: { id, timestamp, level, message }, local, marked, onMark }: LineProps) {
  const parts = useMemo(() => spans(message), [message]);
  return (
    <div className={css.line} data-marked={marked} data-level={level}>
      {onMark ? (
        <button type="button" title={`${timestamp}: link to this line`} onClick={() => onMark(id)}>
          {clock(timestamp, local)}
        </button>
      ) : (
        <time title={timestamp}>{clock(timestamp, local)}</time>
      )}
      <span className={css.level}>{level === 'INFO' ? '' : level}</span>
      <span className={css.message}>
        {parts.map(({ text, bold, dim, colour }, at) => (
          <span
            key={at}
            className={[bold && css.bold, dim && css.dim, colour !== undefined && css[`c${colour}`]]
              .filter(Boolean)
              .join(' ')}
          >
            <Text>{text}</Text>
          </span>
        ))}
      </span>
    </div>
  );
}, isSameLine);

/** `onMark` is made anew with each page of lines and does the same. */
function isSameLine(one: LineProps, other: LineProps): boolean {
  return one.line === other.line && one.local === other.local && one.marked === other.marked;
}

function clock(timestamp: string, local: boolean): string {
  if (!local) return timestamp.slice(11, 23);
  const time = new Date(timestamp);
  return `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
