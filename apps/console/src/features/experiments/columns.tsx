import { Link, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { merged } from '../../ui/address';
import { duration, figure, middle, percent, signed, whole } from '../../ui/format';
import type { Column } from '../../ui/columns/list-columns';
import { Sign, Text, Time } from '../../ui/parts';
import { differing, type Experiment, isStoring, keyCounts, keysOf, metadataOf, statisticsOf } from './data';
import css from './experiments.module.css';
import { Mean } from './mean';

/** Columns of metadata that are shown while none are chosen. */
const MOST_METADATA = 4;
/** Scores that one cell names of those that have no column. */
const MOST_OTHERS = 2;

interface Listed {
  readonly experiments: readonly Experiment[];
  /** The dataset that all of them are on; undefined for several. */
  readonly dataset: string | undefined;
  readonly isTicked: (one: Experiment) => boolean;
  readonly onTick: (one: Experiment) => void;
}

/** The columns of a list of experiments: figures, score keys and metadata that some of them have. */
export function useColumns({ experiments, dataset, isTicked, onTick }: Listed): Column<Experiment>[] {
  const { w } = useParams({ from: '/o/$w' });
  const keys = useMemo(() => keyCounts(experiments).map(([key]) => key), [experiments]);
  const usual = useMemo(() => keysOf(experiments, dataset === undefined), [experiments, dataset]);
  const metadata = useMemo(() => differing(experiments), [experiments]);
  const names = new Map(experiments.map(({ id, name }) => [id, name]));
  const baselines = new Set(experiments.map(({ against_baseline }) => against_baseline?.experiment_id));
  const number = 'number' as const;
  const isUsed = experiments.some(({ total_tokens, total_cost }) => total_tokens !== null || total_cost !== null);
  const others = keys.filter((key) => !usual.includes(key));
  return [
    {
      title: 'Compare',
      kind: 'lead',
      cell: (one) => (
        <input
          type="checkbox"
          aria-label={`Compare ${one.name}`}
          checked={isTicked(one)}
          onChange={() => onTick(one)}
        />
      ),
    },
    {
      title: 'Name',
      kind: 'name',
      sort: 'name',
      cell: ({ id, name, reference_dataset_id, test_run_number: place }) => (
        <>
          <span className={css.place} title="Its number among the experiments on the dataset">
            {place}
          </span>
          <Link
            to="/o/$w/datasets/$dataset/compare"
            params={{ w, dataset: reference_dataset_id! }}
            search={{ selectedSessions: id }}
            title={name}
            data-row
          >
            <Text>{middle(name, 40)}</Text>
          </Link>
          {baselines.has(id) && <span className={css.badge}>baseline</span>}
        </>
      ),
    },
    ...(dataset === undefined
      ? [
          {
            title: 'Dataset',
            sort: 'dataset_name',
            cell: ({ dataset_name, reference_dataset_id }: Experiment) => (
              <Link
                className={css.dataset}
                to="/o/$w/datasets/$dataset"
                params={{ w, dataset: reference_dataset_id! }}
                title={dataset_name}
              >
                <Text>{middle(dataset_name, 28)}</Text>
              </Link>
            ),
          },
        ]
      : []),
    ...keys.map((key) => ({
      id: `score:${key}`,
      title: key,
      kind: number,
      sort: `score:${key}`,
      group: 'Scores',
      hidden: !usual.includes(key),
      cell: (one: Experiment) => <Score of={one} label={key} baseline={nameOf(one, names)} />,
    })),
    ...(others.length > 0
      ? [
          {
            id: 'Other scores',
            title: usual.length > 0 ? 'Other scores' : 'Scores',
            cell: (one: Experiment) => <Others of={one} keys={others} />,
          },
        ]
      : []),
    {
      title: 'p50',
      kind: number,
      sort: 'latency_p50',
      about: 'Median latency',
      cell: (one) => (isStoring(one) ? '' : duration(one.latency_p50)),
    },
    {
      title: 'p99',
      kind: number,
      sort: 'latency_p99',
      hidden: true,
      cell: (one) => (isStoring(one) ? '' : duration(one.latency_p99)),
    },
    ...(isUsed
      ? [
          {
            title: 'Tokens',
            kind: number,
            sort: 'total_tokens',
            about: 'Tokens of all runs',
            cell: ({ total_tokens: tokens }: Experiment) => figure(tokens),
          },
          {
            title: 'Cost',
            kind: number,
            sort: 'total_cost',
            about: 'Cost of all runs',
            cell: ({ total_cost: cost }: Experiment) => figure(cost === null ? null : Number(cost)),
          },
        ]
      : []),
    {
      title: 'Errors',
      kind: number,
      sort: 'error_rate',
      cell: (one) => (isStoring(one) ? '' : percent(one.error_rate)),
    },
    {
      title: 'Rows',
      kind: number,
      sort: 'run_count',
      cell: (one) =>
        isStoring(one) ? <span className={css.storing}>storing the rows …</span> : whole(one.run_count ?? 0),
    },
    ...metadata.map((name, at) => ({
      id: `metadata:${name}`,
      title: name,
      sort: `metadata:${name}`,
      about: `Metadata ${name}`,
      group: 'Metadata',
      hidden: at >= MOST_METADATA,
      cell: (one: Experiment) => <Metadata of={one} name={name} />,
    })),
    {
      title: 'Number',
      kind: 'number',
      sort: 'test_run_number',
      about: 'Number among the experiments on the dataset',
      hidden: true,
      cell: ({ test_run_number: place }) => place,
    },
    { title: 'Started', kind: 'number', sort: 'start_time', cell: ({ start_time }) => <Time at={start_time} /> },
  ];
}

function nameOf({ against_baseline }: Experiment, names: ReadonlyMap<string, string>): string | undefined {
  return against_baseline === null ? undefined : names.get(against_baseline.experiment_id);
}

function Metadata({ of, name }: { of: Experiment; name: string }) {
  const value = metadataOf(of)[name];
  if (value === undefined) return '–';
  return (
    <Link
      className={css.metadata}
      to="."
      search={merged({ metadata: JSON.stringify({ [name]: value }) })}
      title={`Only experiments with this ${name}`}
    >
      <Text>{middle(String(value), 24)}</Text>
    </Link>
  );
}

interface ScoreProps {
  readonly of: Experiment;
  readonly label: string;
  /** Name of the baseline of the dataset; undefined where it is not in the list. */
  readonly baseline: string | undefined;
}

/** The mean of a score, and its difference from the baseline of the dataset. */
function Score({ of, label, baseline }: ScoreProps) {
  if (isStoring(of)) return '';
  const statistics = statisticsOf(of)[label];
  return (
    <>
      <Mean statistics={statistics} runs={of.feedback_stats?.[label] ? of.run_count : null} />
      <Difference of={of} label={label} baseline={baseline} />
    </>
  );
}

/** The difference with a mark for better or worse, outlined where it is not clear. */
function Difference({ of: { against_baseline: against }, label, baseline }: ScoreProps) {
  const difference = against?.differences[label];
  if (!against || difference === undefined) return null;
  const than = `than ${baseline === undefined ? 'the baseline of the dataset' : `the baseline ${baseline}`}`;
  const verdict = against.verdicts[label];
  if (verdict === 'same') return <span className={css.faint}> =</span>;
  const isLower = against.lower_is_better.includes(label);
  const isBetter = difference > 0 !== isLower;
  const word = isBetter ? 'better' : 'worse';
  const isClear = verdict !== 'not clear';
  const sign = isBetter ? (isClear ? '▲' : '△') : isClear ? '▼' : '▽';
  return (
    <span
      className={`${css.difference} ${css[word]}`}
      data-clear={isClear}
      title={`${isClear ? '' : 'Not clear: '}${word} ${than}${isLower ? '; lower is better' : ''}`}
    >
      <Sign sign={sign}>{isClear ? word : `${word}, not clear`}</Sign> {signed(difference)}
    </span>
  );
}

/** Scores that most other experiments of the list do not have. */
function Others({ of, keys }: { of: Experiment; keys: readonly string[] }) {
  const statistics = statisticsOf(of);
  const own = keys.filter((key) => Object.hasOwn(statistics, key));
  const text = (key: string) => `${middle(key, 16)} ${figure(statistics[key]!.avg)}`;
  return (
    <span className={css.others} title={own.map(text).join(', ')}>
      {own.slice(0, MOST_OTHERS).map((key) => (
        <span key={key}>
          <Text>{text(key)}</Text>
        </span>
      ))}
      {own.length > MOST_OTHERS && `${own.length - MOST_OTHERS} more`}
    </span>
  );
}
