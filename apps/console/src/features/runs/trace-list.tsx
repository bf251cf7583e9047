import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, memo, useEffect, useMemo, useRef, useState } from 'react';
import { mayEnd, type TraceLine, useEnded, useNewer, useTraces } from '../../api/traces';
import { useAddress } from '../../ui/address';
import { duration, middle, runName, whole } from '../../ui/format';
import { Nothing } from '../../ui/list';
import { useNarrow } from '../../ui/narrow';
import { Button, Problem, Skeleton, Text, Time } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import { type ColumnName, COLUMNS, columnsOf, Preview, RunStatus } from './columns';
import { FILTERS, tracesAsked } from './filters';
import css from './runs.module.css';
import { TraceFilters } from './trace-filters';

const [ROW_PX, CARD_PX] = [36, 64];
const NAME_PX = 180;
/** Pages one after the other that may find nothing before a person decides whether to look further. */
const MOST_EMPTY = 20;
/** Rows that are left when the next page is fetched. */
const AHEAD = 20;

/** The root runs of a project, the newest first; of all that were read, only those in view are in the document. */
export function TraceList({ w, project }: { w: string; project: string }) {
  const { search } = useAddress();
  const queries = useQueryClient();
  const key = FILTERS.map((name) => search[name]);
  const asked = () => tracesAsked(search, Date.now());
  const query = useTraces(w, project, key, asked);
  const pages = query.data?.pages;
  const read = useMemo(() => pages?.flatMap(({ traces }) => traces) ?? [], [pages]);
  const running = read.filter(mayEnd).slice(0, 100);
  const ended = useEnded(
    w,
    running.map(({ id }) => id),
  );
  const lines = useMemo(
    () => (ended ? read.map((line) => (line.status === 'pending' ? merge(line, ended.get(line.id)) : line)) : read),
    [read, ended],
  );
  const newer = useNewer([w, project, key, asked], query.isPlaceholderData ? undefined : pages?.[0]?.first_cursor);
  const scroller = useRef<HTMLDivElement>(null);
  const load = () => {
    // The pages behind the first one would be read again, one after the other.
    queries.setQueryData<typeof query.data>(
      ['traces', w, project, ...key],
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
    scroller.current?.scrollTo({ top: 0 });
  };
  const isEmpty = pages !== undefined && lines.length === 0;
  useEffect(() => {
    if (isEmpty && newer.count > 0) load();
  }, [isEmpty, newer.count]);
  const filtered = FILTERS.some((name) => search[name]);
  return (
    <>
      <TraceFilters />
      <div role="status" className={css.news}>
        {newer.count > 0 && !isEmpty && (
          <Button onClick={load}>
            {whole(newer.count)}
            {newer.more && '+'} new
          </Button>
        )}
      </div>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {!pages && !query.error && <Skeleton />}
      {isEmpty && !query.hasNextPage && (
        <Nothing title={filtered ? 'No run passes these filters.' : 'This project has no runs yet.'}>
          {!filtered && <p>The first one appears here by itself.</p>}
        </Nothing>
      )}
      {pages && (lines.length > 0 || query.hasNextPage) && (
        <Lines w={w} project={project} lines={lines} query={query} scroller={scroller} columns={search.columns} />
      )}
    </>
  );
}

function merge(line: TraceLine, now: Partial<TraceLine> | undefined): TraceLine {
  return !now || now.status === line.status ? line : { ...line, ...now };
}

interface LinesProps {
  readonly w: string;
  readonly project: string;
  readonly lines: readonly TraceLine[];
  readonly query: ReturnType<typeof useTraces>;
  readonly scroller: React.RefObject<HTMLDivElement | null>;
  readonly columns: string | undefined;
}

function Lines({ w, project, lines, query, scroller, columns: named }: LinesProps) {
  const narrow = useNarrow();
  const columns = useMemo(() => columnsOf(named), [named]);
  const height = narrow ? CARD_PX : ROW_PX;
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 8,
  });
  useEffect(() => virtualizer.measure(), [height]);
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData } = query;
  const pages = query.data!.pages;
  // A filter that finds little looks at many runs: going on is for a person to decide when page after page found nothing.
  const isSparse = pages.length >= MOST_EMPTY && pages.slice(-MOST_EMPTY).every(({ traces }) => traces.length === 0);
  const more = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isPlaceholderData;
  useEffect(() => {
    if (more && !isSparse && last >= lines.length - AHEAD) void query.fetchNextPage();
  }, [more, isSparse, last, lines.length, pages.length]);
  const [wanted, setWanted] = useState<number>();
  const body = useRef<HTMLDivElement>(null);
  const step = (places: number) => {
    const focused = document.activeElement?.closest('[data-place]');
    const first = Math.ceil((scroller.current?.scrollTop ?? 0) / height);
    const at = wanted ?? (focused ? Number(focused.getAttribute('data-place')) : first - places);
    const to = Math.min(Math.max(0, at + places), lines.length - 1);
    virtualizer.scrollToIndex(to);
    setWanted(to);
  };
  useEffect(() => {
    const link = wanted === undefined ? null : body.current?.querySelector<HTMLElement>(`[data-place="${wanted}"] a`);
    if (!link) return;
    link.focus({ preventScroll: true });
    setWanted(undefined);
  }, [wanted, items]);
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  const least = columns.reduce((sum, name) => sum + COLUMNS[name].width[1] + 12, NAME_PX + 24);
  const grid: CSSProperties = {
    gridTemplateColumns: [
      `minmax(${NAME_PX}px, 1fr)`,
      ...columns.map((name) => `minmax(${COLUMNS[name].width[1]}px, ${COLUMNS[name].width[0]})`),
    ].join(' '),
  };
  const searched = pages.at(-1)!.searched_to;
  return (
    <div
      ref={scroller}
      className={css.viewport}
      tabIndex={0}
      role="region"
      aria-label="Runs"
      aria-busy={isPlaceholderData}
    >
      <div
        role="table"
        aria-label="Runs"
        aria-rowcount={hasNextPage ? -1 : lines.length + 1}
        style={narrow ? undefined : { minWidth: least }}
      >
        {!narrow && (
          <div role="row" aria-rowindex={1} className={css.titles} style={grid}>
            <span role="columnheader">Name</span>
            {columns.map((name) => (
              <span role="columnheader" key={name} className={isNumber(name) ? css.number : undefined}>
                {COLUMNS[name].title}
              </span>
            ))}
          </div>
        )}
        <div ref={body} role="rowgroup" className={css.sizer} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              data-place={index}
              className={narrow ? css.card : css.row}
              style={{ ...(narrow ? undefined : grid), transform: `translateY(${start}px)`, height }}
            >
              <Cells w={w} project={project} line={lines[index]!} columns={columns} narrow={narrow} />
            </div>
          ))}
        </div>
      </div>
      {isFetchNextPageError && <Problem error={query.error!} retry={() => void query.fetchNextPage()} />}
      {hasNextPage && isSparse && (
        <p className={css.searched}>
          {searched !== null && (
            <>
              Looked at all runs of the time since <Time at={searched} />.{' '}
            </>
          )}
          <Button disabled={isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {isFetchingNextPage ? 'Looking …' : 'Look further back'}
          </Button>
        </p>
      )}
    </div>
  );
}

function isNumber(name: ColumnName): boolean {
  return COLUMNS[name].number === true;
}

interface CellsProps {
  readonly w: string;
  readonly project: string;
  readonly line: TraceLine;
  readonly columns: readonly ColumnName[];
  readonly narrow: boolean;
}

const Cells = memo(function Cells({ w, project, line, columns, narrow }: CellsProps) {
  const name = runName(line.name, 'Run');
  const link = (
    <span role="cell" className={css.name}>
      <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session: project, run: line.id }} preload={false}>
        <Text title={name.slice(0, 1000)}>{middle(name, 96)}</Text>
      </Link>
    </span>
  );
  if (narrow) {
    return (
      <>
        {link}
        <span role="cell">
          <RunStatus of={line.status} />
        </span>
        <span role="cell" className={css.cell}>
          <Preview json={line.error_preview ?? line.inputs_preview} role="user" />
        </span>
        <span role="cell" className={css.quiet}>
          {duration(line.latency)} · <Time at={line.start_time} />
        </span>
      </>
    );
  }
  return (
    <>
      {link}
      {columns.map((column) => (
        <span role="cell" key={column} className={isNumber(column) ? css.number : css.cell}>
          {COLUMNS[column].cell(line)}
        </span>
      ))}
    </>
  );
});
