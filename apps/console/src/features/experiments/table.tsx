import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, Suspense, useMemo, useRef, useState } from 'react';
import { useAddress } from '../../ui/address';
import { Typed } from '../../ui/form';
import { middle, plain, whole } from '../../ui/format';
import { List, More } from '../../ui/list';
import { ColumnsButton } from '../../ui/columns/list-columns';
import { Button, Problem, Sign, Skeleton, Text } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import { SavedViews } from '../../ui/views/saved-views';
import { late } from '../../ui/late';
import { MakeBaseline } from './baseline';
import { useColumns } from './columns';
import { type Experiment, useExperiments } from './data';
import css from './experiments.module.css';

const BulkActions = late(async () => (await import('./bulk')).BulkActions);

const MOST_COMPARED = 20;
const MOST_FACETS = 100;
/** A filter by score that is written to its end. */
const SCORE = /.(<|<=|>|>=|=)-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

interface ListedProps {
  /** Only the experiments on this dataset. */
  readonly dataset?: string;
  /** Element in place of a list that has nothing at all. */
  readonly none: ReactNode;
}

/** A list of experiments, of which some can be ticked and compared; filter and order stand in the address. */
export function ExperimentTable({ dataset, none }: ListedProps) {
  const { w } = useParams({ from: '/o/$w' });
  const navigate = useNavigate();
  const { search, change } = useAddress();
  const { q, metadata, score, sort } = search;
  const query = useExperiments({ dataset, q, metadata, score: score && SCORE.test(score) ? score : undefined, sort });
  const [chosen, setChosen] = useState<readonly Experiment[]>([]);
  const pages = query.data?.pages;
  const experiments = useMemo(() => pages?.flatMap(({ resources }) => resources) ?? [], [pages]);
  const of = new Set(chosen.map(({ reference_dataset_id }) => reference_dataset_id));
  const problem =
    of.size > 1
      ? 'Only experiments on the same dataset can be compared.'
      : chosen.length > MOST_COMPARED
        ? 'At most 20.'
        : undefined;
  const tick = (one: Experiment) =>
    setChosen((now) => (now.some(({ id }) => id === one.id) ? now.filter(({ id }) => id !== one.id) : [...now, one]));
  const compare = () => {
    // The oldest is what the others are measured against.
    const age = (a: Experiment, b: Experiment) =>
      a.start_time.localeCompare(b.start_time) || (a.test_run_number ?? 0) - (b.test_run_number ?? 0);
    void navigate({
      to: '/o/$w/datasets/$dataset/compare',
      params: { w, dataset: chosen[0]!.reference_dataset_id! },
      search: {
        selectedSessions: [...chosen]
          .sort(age)
          .map(({ id }) => id)
          .join(),
      },
    });
  };
  const isTicked = (one: Experiment) => chosen.some(({ id }) => id === one.id);
  const columns = useColumns({ experiments, dataset, isTicked, onTick: tick });
  const body = useRef<HTMLDivElement>(null);
  /** Moves the focus by so many rows, from the one that has it; onto the first one when none has it. */
  const step = (places: number) => {
    const names = [...(body.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const at = names.findIndex((name) => name.closest('tr')!.contains(document.activeElement));
    names[at < 0 ? 0 : at + places]?.focus();
  };
  const tickFocused = () => {
    const box = body.current?.querySelector('tr:focus-within input');
    if (box instanceof HTMLElement) box.click();
  };
  const ready = chosen.length > 0 && problem === undefined;
  useShortcuts({ j: () => step(1), k: () => step(-1), x: tickFocused, c: ready ? compare : undefined });
  const filtered = Boolean(q || metadata || score);
  const failed = query.error && <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return failed ?? <Skeleton />;
  if (experiments.length === 0 && !filtered) {
    return (
      <>
        {failed}
        {none}
      </>
    );
  }
  const [{ total, facets }] = query.data.pages as [(typeof query.data.pages)[number]];
  const drop = () => change({ q: undefined, metadata: undefined, score: undefined });
  return (
    <>
      <div className={css.tools}>
        <Typed
          label="Filter experiments"
          placeholder="Name, description or dataset"
          main
          value={q ?? ''}
          onChange={(text) => change({ q: text || undefined }, 'replace')}
        />
        <Typed
          label="Filter by a score"
          placeholder="correct>0.8"
          value={score ?? ''}
          onChange={(text) => change({ score: text || undefined }, 'replace')}
        />
        {metadata && (
          <Button title={plain(metadata)} onClick={() => change({ metadata: undefined })}>
            <Text>{middle(chipOf(metadata), 48)}</Text> <Sign sign="✕">Drop this filter</Sign>
          </Button>
        )}
        <SavedViews page="experiments" />
        <ColumnsButton list="experiments" columns={columns} />
        <Button kind="main" disabled={!ready} title="c" onClick={compare}>
          {chosen.length < 2 ? (chosen.length === 1 ? 'Open' : 'Compare') : `Compare ${chosen.length}`}
        </Button>
        <MakeBaseline chosen={chosen} onDone={() => setChosen([])} />
        <Suspense>{chosen.length > 0 && <BulkActions chosen={chosen} onDone={() => setChosen([])} />}</Suspense>
        <span role="status" className={css.hint}>
          {score && !SCORE.test(score)
            ? 'A score is filtered by its key, <, <=, >, >= or =, and a number.'
            : (problem ?? (chosen.length === 0 ? 'Tick experiments to compare them.' : ''))}
        </span>
        <span className={css.total}>
          {total === 1 ? '1 experiment' : `${whole(total)} experiments`}
          {dataset === undefined && ` in ${inDatasets(facets.datasets.length)}`}
        </span>
      </div>
      {failed}
      <div ref={body}>
        <List
          name="experiments"
          label="Experiments"
          order="-start_time"
          items={experiments}
          columns={columns}
          keyOf={({ id }) => id}
          old={query.isPlaceholderData}
          selected={isTicked}
        />
      </div>
      {experiments.length === 0 && (
        <p className={css.nothing}>
          No experiment passes this filter. <Button onClick={drop}>Drop the filter</Button>
        </p>
      )}
      <More query={query} />
    </>
  );
}

function inDatasets(count: number): string {
  if (count >= MOST_FACETS) return `${MOST_FACETS} datasets or more`;
  return count === 1 ? '1 dataset' : `${count} datasets`;
}

/** `{"model":"b"}` as `model: b`. */
function chipOf(metadata: string): string {
  try {
    const [entry] = Object.entries(JSON.parse(metadata) as object);
    return entry ? `${entry[0]}: ${String(entry[1])}` : metadata;
  } catch {
    return metadata;
  }
}
