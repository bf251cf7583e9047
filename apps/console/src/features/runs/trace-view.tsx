import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { RunLine } from '../../api/traces';
import { duration, middle, runName, whole } from '../../ui/format';
import { Button, Text, Unseen } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import css from './runs.module.css';
import { barOf, inTree, spanOf, type TreeRow, unfolded } from './tree';

const ROW_PX = 28;
/** Height of the line above the tree, with what stands around it. */
const TOOLS_PX = 36;
const INDENT_PX = 14;
const DEEPEST = 24;
const SIGNS = { success: '', error: '✕', pending: '◐' } as const;
const WORDS = { success: '', error: ' failed', pending: ' goes on' } as const;

interface TraceViewProps {
  readonly lines: readonly RunLine[];
  readonly root: string | undefined;
  /** Id of the run in focus. */
  readonly focus: string;
  readonly hrefOf: (id: string) => string;
  readonly onFocus: (id: string) => void;
  /** Element below the tree, such as a way to read more. */
  readonly more?: ReactNode;
  /** The run in focus. */
  readonly children: ReactNode;
}

/** The runs of a trace as a tree with their times beside it, and the run in focus. */
export function TraceView({ lines, root, focus, hrefOf, onFocus, more, children }: TraceViewProps) {
  const rows = useMemo(() => inTree(lines, root), [lines, root]);
  const span = useMemo(() => spanOf(lines), [lines]);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => unfolded(rows, folded), [rows, folded]);
  const places = useMemo(() => new Map(rows.map(({ run }, place) => [run.id, place])), [rows]);
  const errors = useMemo(() => rows.flatMap(({ run }, place) => (run.status === 'error' ? [place] : [])), [rows]);
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const place = places.get(focus);
  const at = place === undefined ? -1 : shown.indexOf(place);
  /** Puts a run in focus, and opens what is folded above it. */
  const go = (to: number | undefined) => {
    const row = to === undefined ? undefined : rows[to];
    if (row) onFocus(row.run.id);
  };
  useEffect(() => {
    if (place === undefined) return;
    if (at >= 0) return virtualizer.scrollToIndex(at);
    const above = new Set<string>();
    for (let up = rows[place]!.above; up >= 0; up = rows[up]!.above) above.add(rows[up]!.run.id);
    setFolded(new Set([...folded].filter((one) => !above.has(one))));
  }, [focus, place, at < 0]);
  const row = place === undefined ? undefined : rows[place];
  const isOpen = row !== undefined && row.end > place! + 1 && !folded.has(focus);
  const fold = (run: string, away: boolean) => {
    const next = new Set(folded);
    if (away) next.add(run);
    else next.delete(run);
    setFolded(next);
  };
  const step = (by: number) => go(shown[at < 0 ? 0 : at + by]);
  const narrower = () => (isOpen ? fold(focus, true) : go(row && row.above >= 0 ? row.above : undefined));
  const wider = () => (folded.has(focus) ? fold(focus, false) : isOpen ? step(1) : undefined);
  const nextError = () => go(errors.find((one) => one > (place ?? -1)) ?? errors[0]);
  const lastError = () => go(errors.findLast((one) => one < (place ?? 0)) ?? errors.at(-1));
  useShortcuts({ j: () => step(1), k: () => step(-1), h: narrower, l: wider, e: nextError, E: lastError });
  const keys: Readonly<Record<string, () => void>> = {
    ...{ ArrowDown: () => step(1), ArrowUp: () => step(-1), ArrowLeft: narrower, ArrowRight: () => wider() },
    ...{ Home: () => go(shown[0]), End: () => go(shown.at(-1)) },
  };
  const press = (event: KeyboardEvent) => {
    const command = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!command || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    command();
  };
  const foldAll = () => setFolded(new Set(rows.flatMap((one, n) => (one.end > n + 1 && n > 0 ? [one.run.id] : []))));
  const items = virtualizer.getVirtualItems();
  return (
    <div className={css.trace} style={{ '--tree': `${shown.length * ROW_PX + TOOLS_PX}px` } as CSSProperties}>
      <section className={css.tree} aria-label="Trace">
        <header className={css.tools}>
          <span className={css.quiet}>
            {lines.length === 1 ? '1 run' : `${whole(lines.length)} runs`} ·{' '}
            {duration(Math.max(0, span.to - span.from) / 1000)}
          </span>
          <span className={css.buttons}>
            {errors.length > 0 && (
              <Button kind="quiet" title="e" onClick={nextError}>
                Next error of {whole(errors.length)}
              </Button>
            )}
            {rows.length > 1 && (
              <Button kind="quiet" onClick={folded.size > 0 ? () => setFolded(new Set()) : foldAll}>
                {folded.size > 0 ? 'Unfold all' : 'Fold all'}
              </Button>
            )}
          </span>
        </header>
        <div
          ref={scroller}
          className={css.viewport}
          role="tree"
          aria-label="Runs"
          tabIndex={0}
          aria-activedescendant={items.some(({ index }) => index === at) ? `${id}-${place}` : undefined}
          onKeyDown={press}
        >
          <div role="none" className={css.sizer} style={{ height: virtualizer.getTotalSize() }}>
            {items.map(({ index, start }) => {
              const n = shown[index]!;
              const one = rows[n]!;
              const { left, width } = barOf(one.run, span);
              return (
                <TraceRow
                  key={one.run.id}
                  id={`${id}-${n}`}
                  row={one}
                  top={start}
                  left={left}
                  width={width}
                  href={hrefOf(one.run.id)}
                  isFocused={one.run.id === focus}
                  isFolded={one.end > n + 1 ? folded.has(one.run.id) : undefined}
                  onFocus={onFocus}
                  onFold={fold}
                />
              );
            })}
          </div>
        </div>
        {more}
      </section>
      {children}
    </div>
  );
}

interface TraceRowProps {
  readonly id: string;
  readonly row: TreeRow<RunLine>;
  readonly top: number;
  /** Edge and width of the bar in per cent. */
  readonly left: number;
  readonly width: number;
  readonly href: string;
  readonly isFocused: boolean;
  /** Undefined when there is nothing below it. */
  readonly isFolded: boolean | undefined;
  readonly onFocus: (id: string) => void;
  readonly onFold: (id: string, away: boolean) => void;
}

/** Drawn again only when what it shows changes; what it calls does the same each time. */
const TraceRow = memo(function TraceRow(props: TraceRowProps) {
  const { id, row, top, left, width, href, isFocused, isFolded, onFocus, onFold } = props;
  const { run, depth, isOrphan } = row;
  const name = runName(run.name, 'Run');
  const click = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onFocus(run.id);
  };
  const seconds = run.end_time === null ? null : (Date.parse(run.end_time) - Date.parse(run.start_time)) / 1000;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isFocused}
      aria-expanded={isFolded === undefined ? undefined : !isFolded}
      className={css.treeRow}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className={css.label} style={{ paddingLeft: Math.min(depth, DEEPEST) * INDENT_PX }}>
        <span
          className={css.toggle}
          aria-hidden="true"
          onClick={isFolded === undefined ? undefined : () => onFold(run.id, !isFolded)}
        >
          {isFolded === undefined ? '' : isFolded ? '▸' : '▾'}
        </span>
        <a href={href} tabIndex={-1} onClick={click} className={css.link}>
          <span className={css.kind}>
            <Text>{middle(run.run_type, 9)}</Text>
          </span>{' '}
          <Text title={name.slice(0, 1000)}>{middle(name, 96)}</Text>
          {isOrphan && <span className={css.quiet}> (no parent)</span>}
          {run.status !== 'success' && (
            <span className={css.sign} data-status={run.status}>
              <span aria-hidden="true"> {SIGNS[run.status]}</span>
              <Unseen>{WORDS[run.status]}</Unseen>
            </span>
          )}
        </a>
      </span>
      <span className={css.track} aria-hidden="true">
        <span className={css.bar} data-status={run.status} style={{ left: `${left}%`, width: `${width}%` }} />
      </span>
      <span className={css.number}>{seconds === null ? '' : duration(Math.max(0, seconds))}</span>
    </div>
  );
}, isSame);

function isSame(one: TraceRowProps, other: TraceRowProps): boolean {
  const names = ['id', 'row', 'top', 'left', 'width', 'href', 'isFocused', 'isFolded', 'onFold'] as const;
  return names.every((name) => one[name] === other[name]);
}
