import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import type { Session } from '../../api/client';
import { merged, useAddress } from '../../ui/address';
import { Typed } from '../../ui/form';
import { duration, figure, labelCounts, middle, percent, plain, scoredRuns, signed, whole } from '../../ui/format';
import { More } from '../../ui/list';
import { Button, Problem, Sign, Skeleton, Text, Unseen, Time } from '../../ui/parts';
import { useShortcuts } from '../../ui/shortcuts';
import {
  differing,
  type Experiment,
  halfWidth,
  isStoring,
  keysOf,
  metadataOf,
  useExperiments,
  statisticsOf,
} from './data';
import css from './experiments.module.css';

const MOST_COMPARED = 20;
/** Labels that a cell names. */
const MOST_LABELS = 2;
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
  const keys = useMemo(() => keysOf(experiments), [experiments]);
  const columns = useMemo(() => differing(experiments), [experiments]);
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
  const body = useRef<HTMLTableSectionElement>(null);
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
        <Button kind="main" disabled={!ready} title="c" onClick={compare}>
          {chosen.length < 2 ? (chosen.length === 1 ? 'Open' : 'Compare') : `Compare ${chosen.length}`}
        </Button>
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
      <div
        className={css.scroll}
        tabIndex={0}
        role="region"
        aria-label="Experiments"
        aria-busy={query.isPlaceholderData}
      >
        <table className={css.table}>
          <thead>
            <tr>
              <th className={css.tick}>
                <Unseen>Compare</Unseen>
              </th>
              <Sorted by="test_run_number" number>
                #
              </Sorted>
              <Sorted by="name">Name</Sorted>
              {dataset === undefined && <Sorted by="dataset_name">Dataset</Sorted>}
              {keys.map((key) => (
                <Sorted key={key} by={`score:${key}`} number title={key}>
                  <Text>{middle(key, 24)}</Text>
                </Sorted>
              ))}
              <Sorted by="latency_p50" number>
                p50
              </Sorted>
              <Sorted by="error_rate" number>
                Errors
              </Sorted>
              <Sorted by="run_count" number>
                Rows
              </Sorted>
              {columns.map((name) => (
                <Sorted key={name} by={`metadata:${name}`} title={`Metadata ${name}`}>
                  <Text>{middle(name, 24)}</Text>
                </Sorted>
              ))}
              <Sorted by="start_time" number>
                Started
              </Sorted>
            </tr>
          </thead>
          <tbody ref={body}>
            {experiments.map((one) => (
              <Row
                key={one.id}
                session={one}
                dataset={dataset === undefined ? one.dataset_name : undefined}
                keys={keys}
                columns={columns}
                ticked={chosen.some(({ id }) => id === one.id)}
                onTick={() => tick(one)}
              />
            ))}
          </tbody>
        </table>
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

interface SortedProps {
  /** The order of the service that the column stands for. */
  readonly by: string;
  readonly number?: boolean;
  readonly title?: string;
  readonly children: ReactNode;
}

/** The head of a column; it sorts by the column, largest first, then smallest first, then not. */
function Sorted({ by, number, title, children }: SortedProps) {
  const { search } = useAddress();
  const now = search.sort ?? '-start_time';
  const order = now === `-${by}` ? 'descending' : now === by ? 'ascending' : undefined;
  const next = order === undefined ? `-${by}` : order === 'descending' ? by : undefined;
  return (
    <th className={number ? css.number : undefined} aria-sort={order} title={title}>
      <Link to="." search={merged({ sort: next })} resetScroll={false}>
        {children}
        <span aria-hidden="true">{order === undefined ? '' : order === 'descending' ? ' ↓' : ' ↑'}</span>
      </Link>
    </th>
  );
}

interface RowProps {
  readonly session: Experiment;
  readonly dataset?: string;
  readonly keys: readonly string[];
  readonly columns: readonly string[];
  readonly ticked: boolean;
  readonly onTick: () => void;
}

function Row({ session, dataset, keys, columns, ticked, onTick }: RowProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { id, name, test_run_number: number, reference_dataset_id, start_time } = session;
  const metadata = metadataOf(session);
  return (
    <tr aria-selected={ticked}>
      <td className={css.tick}>
        <input type="checkbox" aria-label={`Compare ${name}`} checked={ticked} onChange={onTick} />
      </td>
      <td className={css.number}>{number}</td>
      <td className={css.name}>
        <Link
          to="/o/$w/datasets/$dataset/compare"
          params={{ w, dataset: reference_dataset_id! }}
          search={{ selectedSessions: id }}
          title={name}
          data-row
        >
          <Text>{middle(name, 48)}</Text>
        </Link>
      </td>
      {dataset !== undefined && (
        <td className={css.dataset}>
          <Link to="/o/$w/datasets/$dataset" params={{ w, dataset: reference_dataset_id! }} title={dataset}>
            <Text>{middle(dataset, 40)}</Text>
          </Link>
        </td>
      )}
      {isStoring(session) ? (
        <td colSpan={keys.length + 3} className={css.storing}>
          storing the rows …
        </td>
      ) : (
        <>
          {keys.map((key) => (
            <Score
              key={key}
              label={key}
              statistics={statisticsOf(session)[key]}
              runs={session.feedback_stats?.[key] ? session.run_count : null}
              against={session.against_baseline?.differences[key]}
            />
          ))}
          <td className={css.number} data-label="p50">
            {duration(session.latency_p50)}
          </td>
          <td className={css.number} data-label="Errors">
            {percent(session.error_rate)}
          </td>
          <td className={css.number} data-label="Rows">
            {whole(session.run_count ?? 0)}
          </td>
        </>
      )}
      {columns.map((column) => (
        <td key={column} className={css.metadata} data-label={column}>
          {metadata[column] === undefined ? (
            '–'
          ) : (
            <Link
              to="."
              search={merged({ metadata: JSON.stringify({ [column]: metadata[column] }) })}
              title={`Only experiments with this ${column}`}
            >
              <Text>{middle(String(metadata[column]), 24)}</Text>
            </Link>
          )}
        </td>
      ))}
      <td className={css.number} data-label="Started">
        <Time at={start_time} />
      </td>
    </tr>
  );
}

type Statistics = NonNullable<Session['feedback_stats']>[string];

interface ScoreProps {
  readonly label: string;
  readonly statistics?: Statistics;
  /** Number of all runs; null for a score of the whole experiment. */
  readonly runs: number | null;
  /** Difference from the baseline of the dataset. */
  readonly against?: number;
}

function Score({ label, statistics, runs, against }: ScoreProps) {
  return (
    <td className={css.number} data-label={label}>
      <Mean statistics={statistics} runs={runs} />
      {against !== undefined && (
        <span className={css.faint} title="Difference from the baseline of the dataset">
          {' '}
          {against === 0 ? '=' : signed(against)}
        </span>
      )}
    </td>
  );
}

/** The mean of a score and half the width of its interval, and how often labels were given. */
export function Mean({ statistics, runs }: { statistics?: Statistics; runs: number | null }) {
  if (!statistics) return <span className={css.faint}>–</span>;
  const { n, avg, values } = statistics;
  const { scores = avg === null ? 0 : n, scored = scores } = statistics;
  const [labels, all] = [MOST_LABELS, Infinity].map((most) => labelCounts(values, n - scores, most));
  const half = halfWidth(statistics);
  return (
    <>
      {avg !== null && (
        <span title="Mean and half the width of its 95 % interval">
          {figure(avg)}
          {half !== undefined && <span className={css.faint}> ±{half.toPrecision(1)}</span>}
          {runs !== null && (scored < runs || scored < scores) && (
            <span className={css.faint}> {scoredRuns(scored, runs, scores)}</span>
          )}{' '}
        </span>
      )}
      {labels !== '' && (
        <span title={plain(all!)}>
          <Text>{runs === null ? Object.keys(values).join(', ') : labels!}</Text>
        </span>
      )}
      {avg === null && labels === '' && <span className={css.faint}>–</span>}
    </>
  );
}
