import { Link, useParams } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import type { Comparison } from '../../api/client';
import { duration, figure, signed, whole } from '../../ui/format';
import { Further } from '../../ui/columns/list-head';
import { useNarrow } from '../../ui/narrow';
import { Problem, Sign, Text, Unseen } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import css from './compare.module.css';
import { type Asked, type Cell, type ComparedRow, type KeyComparison, PAGE, useFindPlace, useRowPages } from './data';
import { firstDifference } from './difference';
import { KINDS } from './feedback';
import { Labels } from './labels';
import { flatText } from '../../ui/values/readable';

const ROW_HEIGHT = 64;
/** Shares of the columns in the width, and pixels that they take at least. */
const [INPUT_WIDTH, REFERENCE_WIDTH, RESULT_WIDTH] = [210, 180, 220];
/** On a narrow page: the input, and one candidate. */
const NARROW_WIDTHS = [130, 200];
const SHOWN_CHARACTERS = 160;

type ShownTurn = Cell['outputs_turn'];

interface RowsProps {
  readonly asked: Asked;
  readonly comparison: Comparison;
  readonly focus: KeyComparison | undefined;
  /** The key whose labels are shown beside the scores; undefined for none. */
  readonly labels: string | undefined;
  readonly stamp: number;
  readonly chosen: string | undefined;
  /** The one that a narrow page shows. */
  readonly candidate: string | undefined;
  /** Texts are shown from their beginning, not from their first difference from the baseline. */
  readonly whole: boolean;
  readonly onChoose: (example: string) => void;
}

/** The rows, of which only those in view are in the document. */
export function Rows(props: RowsProps) {
  const { asked, comparison, focus, labels, stamp, chosen, candidate, whole: wholeTexts, onChoose } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { experiments, keys } = comparison;
  const first = useRowPages(asked, [0], stamp)[0]!;
  const total = first.data?.page.total ?? comparison.rows;
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
  });
  const items = virtualizer.getVirtualItems();
  const pages = useMemo(() => {
    const numbers = items.map(({ index }) => Math.floor(index / PAGE));
    return [...new Set(numbers)];
  }, [items]);
  const loaded = useRowPages(asked, pages, stamp);
  const rowAt = (index: number): ComparedRow | undefined =>
    loaded[pages.indexOf(Math.floor(index / PAGE))]?.data?.page.rows[index % PAGE];
  const place = keys.findIndex(({ key }) => key === focus?.key);
  /** Opens the row so many places after the open one, or the first row in view. */
  const step = (places: number): boolean => {
    const at = items.find(({ index }) => rowAt(index)?.example_id === chosen)?.index;
    const to =
      at === undefined || chosen === undefined
        ? Math.floor((scroller.current?.scrollTop ?? 0) / ROW_HEIGHT)
        : at + places;
    const next = rowAt(to);
    if (!next) return false;
    virtualizer.scrollToIndex(to);
    onChoose(next.example_id);
    return true;
  };
  const narrow = useNarrow();
  const findPlace = useFindPlace(asked);
  const seek = useEffectEvent(async (example: string) => {
    if (items.some(({ index }) => rowAt(index)?.example_id === example)) return;
    const place = await findPlace(example).catch(() => undefined);
    if (place !== undefined) virtualizer.scrollToIndex(place, { align: 'center' });
  });
  const hasRows = first.data !== undefined;
  useEffect(() => {
    if (chosen !== undefined && hasRows) void seek(chosen);
  }, [chosen, hasRows, asked]);
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  const failed = [first, ...loaded].filter(({ isError }) => isError);
  if (failed.length > 0) {
    return <Problem error={failed[0]!.error!} retry={() => failed.forEach((one) => void one.refetch())} />;
  }

  const move = (event: KeyboardEvent) => {
    const places = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (places !== undefined && chosen !== undefined && step(places)) event.preventDefault();
  };
  const at = experiments.findIndex(({ id }) => id === candidate);
  const only = narrow ? Math.max(0, at) : undefined;
  const widths = narrow ? NARROW_WIDTHS : [INPUT_WIDTH, REFERENCE_WIDTH, ...experiments.map(() => RESULT_WIDTH)];
  const columns = { gridTemplateColumns: widths.map((width) => `minmax(0, ${width}fr)`).join(' ') };
  const least = widths.reduce((sum, width) => sum + width, 0);
  return (
    <section className={css.rows} aria-label="Rows">
      <div
        ref={scroller}
        data-rows
        className={css.viewport}
        onKeyDown={move}
        tabIndex={0}
        role="region"
        aria-label={`${whole(total)} rows`}
      >
        <div
          role="grid"
          aria-label="Rows"
          aria-rowcount={total + 1}
          aria-colcount={widths.length}
          className={css.grid}
          style={{ minWidth: least }}
        >
          <div role="row" aria-rowindex={1} className={css.titles} style={columns}>
            <span role="columnheader" data-pinned>
              Input
            </span>
            {only === undefined && <span role="columnheader">Reference</span>}
            {experiments
              .filter((_, place) => only === undefined || only === place)
              .map(({ id, name }) => (
                <span role="columnheader" key={id} title={name}>
                  <Text>{name}</Text>
                </span>
              ))}
          </div>
          <div role="rowgroup" className={css.sizer} style={{ height: virtualizer.getTotalSize() }}>
            {items.map(({ index, start }) => {
              const row = rowAt(index);
              return (
                <div
                  key={index}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={row !== undefined && row.example_id === chosen}
                  className={css.row}
                  style={{ ...columns, transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                >
                  {row ? (
                    <RowCells
                      keyed={focus?.key}
                      row={row}
                      place={place}
                      labels={labels}
                      lower={focus?.direction === 'lower is better'}
                      index={index}
                      whole={wholeTexts}
                      only={only}
                      onChoose={onChoose}
                    />
                  ) : (
                    <span role="gridcell" className={css.pending} />
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      <Further scroller={scroller} />
      {total === 0 && <p className={css.faint}>No row passes this filter.</p>}
    </section>
  );
}

interface RowCellsProps {
  readonly keyed: string | undefined;
  readonly row: ComparedRow;
  readonly place: number;
  readonly labels: string | undefined;
  readonly lower: boolean;
  readonly index: number;
  readonly whole: boolean;
  /** The place of the one experiment that a narrow page shows. */
  readonly only: number | undefined;
  readonly onChoose: (example: string) => void;
}

const RowCells = memo(function RowCells({
  keyed,
  row,
  place,
  labels,
  lower,
  index,
  whole: wholeTexts,
  only,
  onChoose,
}: RowCellsProps) {
  const [baseline] = row.cells;
  return (
    <>
      <span role="gridcell" className={css.cell} data-pinned>
        <button type="button" className={css.open} data-opens={row.example_id} onClick={() => onChoose(row.example_id)}>
          <Unseen>Open row {index + 1}: </Unseen>
          <Preview text={row.inputs_preview} turn={row.inputs_turn} />
        </button>
      </span>
      {only === undefined && (
        <span role="gridcell" className={css.cell}>
          <Preview text={row.reference_outputs_preview} turn={row.reference_outputs_turn} />
        </span>
      )}
      {row.cells.map((cell, at) =>
        only !== undefined && only !== at ? null : (
          <span role="gridcell" key={at} className={css.cell}>
            <Result
              keyed={keyed}
              cell={cell}
              baseline={at === 0 ? undefined : baseline}
              place={place}
              labels={labels}
              lower={lower}
              whole={wholeTexts}
            />
          </span>
        ),
      )}
    </>
  );
});

interface PreviewProps {
  readonly text: string | null;
  readonly turn?: ShownTurn;
}

function Preview({ text, turn }: PreviewProps) {
  if (text === null) return <span className={css.faint}>–</span>;
  return (
    <span className={css.text}>
      {turn && <b className={css.role}>{turn.role} </b>}
      <Text>{(turn?.text ?? flatText(text)).slice(0, SHOWN_CHARACTERS * 2)}</Text>
    </span>
  );
}

interface ResultProps {
  /** The key in focus. */
  readonly keyed: string | undefined;
  readonly cell: Cell | null;
  readonly baseline: Cell | null | undefined;
  readonly place: number;
  readonly labels: string | undefined;
  readonly lower: boolean;
  readonly whole: boolean;
}

function Result({ keyed, cell, baseline, place, labels, lower, whole: wholeText }: ResultProps) {
  if (!cell) return <span className={css.faint}>no such row</span>;
  if (cell.status === 'error') {
    return (
      <>
        <span className={css.errored}>
          <span aria-hidden="true">✕</span> <Text>{cell.error_preview ?? 'failed'}</Text>
        </span>
        <span className={css.scores}>
          errored {duration(cell.latency_seconds)} <Used of={cell} />
        </span>
      </>
    );
  }
  const turn = cell.outputs_turn;
  const text = turn?.text ?? flatText(cell.outputs_preview ?? '');
  const other = baseline && (baseline.outputs_turn?.text ?? flatText(baseline.outputs_preview ?? ''));
  // What stands behind the beginning that is known may differ.
  const isWhole = turn === undefined && /^(\{.*\})?$/s.test(cell.outputs_preview ?? '');
  const at = wholeText || other == null ? 0 : (firstDifference(text, other) ?? (isWhole ? undefined : 0));
  const comment = keyed === undefined ? undefined : cell.comments?.[keyed];
  const judge = keyed === undefined ? undefined : cell.judges?.[keyed];
  const score = place < 0 ? null : cell.scores[place];
  const labelled = labels === undefined ? undefined : cell.labels[labels];
  return (
    <>
      {at === undefined ? (
        <span className={css.same}>= baseline</span>
      ) : (
        <span className={css.text}>
          {turn && <b className={css.role}>{turn.role} </b>}
          <Text>{(at > 0 ? '…' : '') + text.slice(at, at + SHOWN_CHARACTERS)}</Text>
        </span>
      )}
      <span className={css.scores}>
        {(score != null || !labelled) && (
          <Score score={score} before={place < 0 ? null : baseline?.scores[place]} lower={lower} />
        )}
        <Labels of={labelled} before={baseline?.labels[labels ?? '']} />
        <span className={css.faint}>{duration(cell.latency_seconds)}</span>
        <Used of={cell} />
        {cell.runs > 1 && <span className={css.faint}>{cell.runs} runs</span>}
        {(judge ?? comment) !== undefined && (
          <span className={css.remark}>
            {judge && <Judge {...judge} />}
            {judge && comment !== undefined && ': '}
            {comment !== undefined && <Text title={comment}>{comment.replaceAll(/\s+/g, ' ')}</Text>}
          </span>
        )}
      </span>
    </>
  );
}

/** Tokens and cost of a run, where it says them. */
function Used({ of: { total_tokens: tokens, total_cost: cost } }: { of: Cell }) {
  return (
    <>
      {tokens !== null && <span className={css.faint}>{whole(tokens)} tokens</span>}
      {cost !== null && <span className={css.faint}>cost {figure(Number(cost))}</span>}
    </>
  );
}

/** The giver of the newest feedback on the key in focus, which leads to the run in which it was given. */
function Judge({ type, run_id, session_id }: NonNullable<Cell['judges']>[string]) {
  const { w } = useParams({ strict: false });
  const name = KINDS[type].replace(/^an? /, '');
  if (run_id === null || session_id === null || w === undefined) return name;
  return (
    <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session: session_id, run: run_id }} title="Its run">
      {name}
    </Link>
  );
}

function Score({
  score,
  before,
  lower,
}: {
  score: number | null | undefined;
  before: number | null | undefined;
  lower: boolean;
}) {
  if (score === null || score === undefined) return <span className={css.faint}>not scored</span>;
  if (before === null || before === undefined || before === score) return <span>{figure(score)}</span>;
  const better = score > before !== lower;
  return (
    <span className={better ? css.up : css.down}>
      <Sign sign={better ? '▲' : '▼'}>{better ? 'better' : 'worse'}</Sign> {figure(score)} ({signed(score - before)})
    </span>
  );
}
