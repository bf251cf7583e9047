import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Session } from '../../api/client';
import { duration, figure, middle, percent, whole } from '../../ui/format';
import { Button, Text, Time } from '../../ui/parts';
import { differing, halfWidth, isStoring, keysOf, matches, metadataOf } from './data';
import css from './experiments.module.css';

const MOST_COMPARED = 20;

interface Listed {
  readonly sessions: readonly Session[];
  /** Names of datasets by their ids; undefined where all are of one dataset. */
  readonly datasets?: ReadonlyMap<string, string>;
}

/** A list of experiments, of which some can be ticked and compared. */
export function ExperimentTable({ sessions, datasets }: Listed) {
  const { w } = useParams({ from: '/o/$w' });
  const navigate = useNavigate();
  const [filter, setFilter] = useState('');
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const keys = useMemo(() => keysOf(sessions), [sessions]);
  const columns = useMemo(() => differing(sessions), [sessions]);
  const nameOf = (session: Session) => datasets?.get(session.reference_dataset_id ?? '') ?? '';
  const shown = sessions.filter((session) => matches(session, nameOf(session), filter));
  const chosen = sessions.filter(({ id }) => ticked.includes(id));
  const of = new Set(chosen.map(({ reference_dataset_id }) => reference_dataset_id));
  const problem =
    of.size > 1
      ? 'Only experiments on the same dataset can be compared.'
      : chosen.length > MOST_COMPARED
        ? 'At most 20.'
        : undefined;
  const tick = (id: string) => setTicked((now) => (now.includes(id) ? now.filter((one) => one !== id) : [...now, id]));
  const compare = () => {
    // The oldest is what the others are measured against.
    const age = (a: Session, b: Session) =>
      a.start_time.localeCompare(b.start_time) || (a.test_run_number ?? 0) - (b.test_run_number ?? 0);
    const ids = [...chosen].sort(age).map(({ id }) => id);
    const dataset = chosen[0]!.reference_dataset_id!;
    void navigate({
      to: '/o/$w/datasets/$dataset/compare',
      params: { w, dataset },
      search: { selectedSessions: ids.join(',') },
    });
  };
  return (
    <>
      <div className={css.tools}>
        <input
          type="search"
          aria-label="Filter experiments"
          placeholder="Name, dataset or metadata"
          data-slash
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <Button kind="main" disabled={chosen.length === 0 || problem !== undefined} onClick={compare}>
          {chosen.length < 2 ? (chosen.length === 1 ? 'Open' : 'Compare') : `Compare ${chosen.length}`}
        </Button>
        <span role="status" className={css.hint}>
          {problem ?? (chosen.length === 0 ? 'Tick experiments to compare them.' : '')}
        </span>
      </div>
      <div className={css.scroll} tabIndex={0} role="region" aria-label="Experiments">
        <table className={css.table}>
          <thead>
            <tr>
              <th className={css.tick}>
                <span className={css.unseen}>Compare</span>
              </th>
              <th className={css.number}>#</th>
              <th>Name</th>
              {datasets && <th>Dataset</th>}
              {keys.map((key) => (
                <th key={key} className={css.number} title={key}>
                  <Text>{middle(key, 24)}</Text>
                </th>
              ))}
              <th className={css.number}>p50</th>
              <th className={css.number}>Errors</th>
              <th className={css.number}>Rows</th>
              {columns.map((name) => (
                <th key={name} title={`Metadata ${name}`}>
                  <Text>{middle(name, 24)}</Text>
                </th>
              ))}
              <th className={css.number}>Started</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((session) => (
              <Row
                key={session.id}
                session={session}
                dataset={datasets && nameOf(session)}
                keys={keys}
                columns={columns}
                ticked={ticked.includes(session.id)}
                onTick={() => tick(session.id)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && (
        <p className={css.nothing}>
          No experiment here has “{filter}” in its name, dataset or metadata.{' '}
          <Button onClick={() => setFilter('')}>Drop the filter</Button>
        </p>
      )}
    </>
  );
}

interface RowProps {
  readonly session: Session;
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
            <Score key={key} label={key} statistics={session.feedback_stats?.[key]} />
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
          {metadata[column] === undefined ? '–' : <Text>{middle(String(metadata[column]), 24)}</Text>}
        </td>
      ))}
      <td className={css.number} data-label="Started">
        <Time at={start_time} />
      </td>
    </tr>
  );
}

function Score({
  label,
  statistics,
}: {
  label: string;
  statistics?: { n: number; avg: number | null; stdev: number | null };
}) {
  const half = statistics && halfWidth(statistics);
  return (
    <td className={css.number} data-label={label}>
      {statistics?.avg === undefined || statistics.avg === null ? (
        <span className={css.faint}>–</span>
      ) : (
        <span title={`${whole(statistics.n)} scores; mean and half the width of its 95 % interval`}>
          {figure(statistics.avg)}
          {half !== undefined && <span className={css.faint}> ±{half.toPrecision(1)}</span>}
        </span>
      )}
    </td>
  );
}
