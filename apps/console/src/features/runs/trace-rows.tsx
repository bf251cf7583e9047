import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, memo, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { TraceLine, useTraces } from '../../api/traces';
import { useAddress } from '../../ui/address';
import { parseArrangement, useWidths } from '../../ui/columns/columns';
import { arranged, idOf } from '../../ui/columns/list-columns';
import { Further, Handle } from '../../ui/columns/list-head';
import { duration, middle, plain, runName } from '../../ui/format';
import { useNarrow } from '../../ui/narrow';
import { Button, Problem, Text, Time, Unseen } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import { COLUMNS, Preview, RunStatus, type TraceColumn } from './columns';
import css from './runs.module.css';

const LIST = 'traces';
const [ROW_PX, CARD_PX] = [36, 64];
const PADDING_PX = 12;
/** Pages one after the other that may find nothing before a person decides whether to look further. */
const MOST_EMPTY = 20;
/** Rows that are left when the next page is fetched. */
const AHEAD = 20;
const NONE = () => null;
/** The cells of the first two are made of more than the run. */
const EVERY: readonly TraceColumn[] = [
  { title: 'Tick', kind: 'lead', cell: NONE, width: ['28px', 28] },
  { title: 'Name', kind: 'name', cell: NONE, width: ['1fr', 192] },
  ...COLUMNS,
];

interface RowsProps {
  readonly w: string;
  readonly project: string;
  readonly lines: readonly TraceLine[];
  readonly query: ReturnType<typeof useTraces>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** Ids of the ticked runs. */
  readonly ticked: ReadonlySet<string>;
  /** Ticks a run, or takes its tick away. */
  readonly onTick: (line: TraceLine) => void;
}

/** Rows of a list, of which those in view are in the document. */
export function TraceRows({ w, project, lines, query, scroller, ticked, onTick }: RowsProps) {
  const narrow = useNarrow();
  const { search } = useAddress();
  const widths = useWidths(LIST);
  const { all, fixed } = useMemo(() => arranged(EVERY, parseArrangement(search.columns)), [search.columns]);
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
  const tickFocused = () => {
    const box = document.activeElement?.closest('[data-place]')?.querySelector('input');
    box?.click();
  };
  useShortcuts({ j: () => step(1), k: () => step(-1), x: tickFocused });
  const least = all.reduce((sum, column) => sum + (widths[idOf(column)] ?? column.width[1]), PADDING_PX);
  const grid: CSSProperties = {
    gridTemplateColumns: all
      .map((column) => {
        const chosen = widths[idOf(column)];
        const [track, usual] = column.width;
        return chosen === undefined ? `minmax(${usual}px, ${track})` : `${chosen}px`;
      })
      .join(' '),
  };
  const searched = pages.at(-1)!.searched_to;
  return (
    <div className={css.frame}>
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
              {all.map((column, at) => (
                <span
                  role="columnheader"
                  key={idOf(column)}
                  className={column.kind === 'number' ? css.number : undefined}
                  {...placeOf(at, fixed)}
                >
                  {column.kind === 'lead' ? <Unseen>{column.title}</Unseen> : column.title}
                  {column.kind !== 'lead' && <Handle list={LIST} column={idOf(column)} />}
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
                aria-selected={ticked.has(lines[index]!.id)}
                className={narrow ? css.card : css.row}
                style={{ ...(narrow ? undefined : grid), transform: `translateY(${start}px)`, height }}
              >
                <Cells
                  w={w}
                  project={project}
                  line={lines[index]!}
                  columns={all}
                  fixed={fixed}
                  narrow={narrow}
                  ticked={ticked.has(lines[index]!.id)}
                  onTick={onTick}
                />
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
      <Further scroller={scroller} />
    </div>
  );
}

/** The columns that stay in view are where those before them end. */
function placeOf(at: number, fixed: number) {
  return at < fixed ? { 'data-pinned': true, style: { left: `var(--left-${at})` } } : {};
}

interface CellsProps {
  readonly w: string;
  readonly project: string;
  readonly line: TraceLine;
  readonly columns: readonly TraceColumn[];
  readonly fixed: number;
  readonly narrow: boolean;
  readonly ticked: boolean;
  readonly onTick: (line: TraceLine) => void;
}

const Cells = memo(function Cells({ w, project, line, columns, fixed, narrow, ticked, onTick }: CellsProps) {
  const name = runName(line.name, 'Run');
  const tick = (
    <input type="checkbox" aria-label={`Tick ${plain(name)}`} checked={ticked} onChange={() => onTick(line)} />
  );
  const link = (
    <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session: project, run: line.id }} preload={false}>
      <Text title={name.slice(0, 1000)}>{middle(name, 96)}</Text>
    </Link>
  );
  if (narrow) {
    return (
      <>
        <span role="cell" className={css.name}>
          {tick}
          {link}
        </span>
        <span role="cell">
          <RunStatus of={line.status} />
        </span>
        <span role="cell" className={css.cell}>
          <Preview
            json={line.error_preview ?? line.inputs_preview}
            turn={line.error_preview === null ? line.inputs_turn : undefined}
            role="user"
          />
        </span>
        <span role="cell" className={css.quiet}>
          {duration(line.latency)} · <Time at={line.start_time} />
        </span>
      </>
    );
  }
  const classes = { lead: css.tick, name: css.name, number: css.number } as Readonly<Record<string, string>>;
  return columns.map((column, at) => (
    <span role="cell" key={idOf(column)} className={classes[column.kind ?? ''] ?? css.cell} {...placeOf(at, fixed)}>
      {column.kind === 'lead' ? tick : column.kind === 'name' ? link : column.cell(line)}
    </span>
  ));
});
