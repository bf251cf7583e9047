import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCounts } from '../../api/projects';
import { merged, useAddress } from '../../ui/address';
import { duration, figure, whole } from '../../ui/format';
import { List } from '../../ui/list';
import { timeText, useTimes } from '../../ui/times';
import { TIME_FILTERS, timesOf } from './filters';
import css from './runs.module.css';

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const HEIGHT = 32;

/**
 * The root runs of a project by the hour or day, over the time that the address names, the last day without one. Each
 * bar leads to the runs of its time. The place is kept while nothing is known.
 */
export function RunsOverTime({ w, project }: { w: string; project: string }) {
  const { search, change } = useAddress();
  const key = TIME_FILTERS.map((name) => search[name]);
  const [isTable, setTable] = useState(false);
  const times = useTimes();
  const { data } = useCounts(w, project, key, () => timesOf(search, Date.now()));
  if (!data) return <div className={css.over} />;
  const { counts, interval, from, to } = data;
  const unit = interval === 'day' ? DAY_MS : HOUR_MS;
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const places = Math.max(1, Math.round((end - start) / unit));
  const most = counts.reduce((sum, { runs }) => Math.max(sum, runs), 0);
  const runs = counts.reduce((sum, one) => sum + one.runs, 0);
  const errors = counts.reduce((sum, one) => sum + one.errors, 0);
  const scaled = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT));
  const only = (time: string) => {
    const first = Date.parse(time);
    const [since, before] = [first, first + unit].map((ms) => `${new Date(ms).toISOString().slice(0, 16)}Z`);
    return { since: undefined, from: since, to: before };
  };
  const said = `${whole(runs)} runs, ${whole(errors)} of them failed, by the ${interval}`;
  return (
    <div className={css.over}>
      <svg viewBox={`0 0 ${places * 4} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={said}>
        {counts.map(({ time, runs: all, errors: failed }) => {
          const x = Math.round((Date.parse(time) - start) / unit) * 4;
          return (
            <g key={time} onClick={() => change(only(time))}>
              <title>{`${whole(all)} runs, ${whole(failed)} failed`}</title>
              <rect x={x} y={0} width={4} height={HEIGHT} className={css.hit} />
              <rect x={x} y={HEIGHT - scaled(all)} width={3} height={scaled(all)} className={css.ran} />
              <rect x={x} y={HEIGHT - scaled(failed)} width={3} height={scaled(failed)} className={css.failed} />
            </g>
          );
        })}
      </svg>
      <details className={css.menu} onToggle={({ currentTarget }) => setTable(currentTarget.open)}>
        <summary>As table</summary>
        {isTable && (
          <div>
            <List
              label="Counts over time"
              items={counts.toReversed()}
              keyOf={({ time }) => time}
              columns={[
                {
                  title: interval === 'day' ? 'Day' : 'Hour',
                  kind: 'name',
                  cell: ({ time }) => (
                    <Link to="." search={merged(only(time))}>
                      {timeText(time, times === 'utc' ? 'utc' : 'local', 0)}
                    </Link>
                  ),
                },
                { title: 'Runs', kind: 'number', cell: ({ runs: count }) => whole(count) },
                { title: 'Errors', kind: 'number', cell: ({ errors: count }) => whole(count) },
                { title: 'Tokens', kind: 'number', cell: ({ total_tokens: tokens }) => figure(tokens) },
                { title: 'Cost', kind: 'number', cell: ({ total_cost: cost }) => figure(Number(cost)) },
                { title: 'p50', kind: 'number', cell: ({ latency_p50: p50 }) => duration(p50) },
                { title: 'p99', kind: 'number', cell: ({ latency_p99: p99 }) => duration(p99) },
              ]}
            />
          </div>
        )}
      </details>
    </div>
  );
}
