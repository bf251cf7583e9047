import { useAddress } from '../../ui/address';
import { Pick } from '../../ui/form';
import { bytes, whole } from '../../ui/format';
import { List, Section } from '../../ui/list';
import { Problem, Skeleton, Time } from '../../ui/parts';
import { useMetrics } from './data';
import css from './deployments.module.css';
import { HEIGHT, type Measured, pathOf, type Period, placeOf, WIDTH } from './series';
import { type Revision, revisionName, type Shown } from './words';

const PERIODS = { minute: 'Last 24 hours', hour: 'Last 31 days' };
const NOT_MEASURED = 'not measured';
const MOST_ROWS = 60;

const milliseconds = (value: number) => `${whole(value)} ms`;
const GRAPHS: readonly (readonly [title: string, members: readonly Measured[], shown: (value: number) => string])[] = [
  ['Requests', ['requests'], whole],
  ['Errors', ['errors'], whole],
  ['Latency p50, p99', ['latency_p50_ms', 'latency_p99_ms'], milliseconds],
  ['Memory', ['memory_bytes'], bytes],
  ['Restarts', ['restarts'], whole],
];

/** Graphs of what a deployment did and used, with its revisions as marks. */
export function Metrics({ deployment, revisions }: Shown) {
  const { search, change } = useAddress();
  const period: Period = search.period === 'hour' ? 'hour' : 'minute';
  const metrics = useMetrics(deployment.id, period);
  const points = metrics.data?.period === period ? metrics.data.points : undefined;
  const now = metrics.dataUpdatedAt;
  const each = ` ${period === 'hour' ? 'an' : 'a'} ${period}`;
  return (
    <Section
      title="Over time"
      aside={
        <Pick
          label="Time"
          value={period}
          onChange={(next) => change({ period: next === 'minute' ? undefined : next }, 'replace')}
          options={PERIODS}
        />
      }
    >
      {metrics.error && <Problem error={metrics.error} retry={() => void metrics.refetch()} />}
      {!points && !metrics.error && <Skeleton rows={4} />}
      {points && (
        <div className={css.graphs}>
          {GRAPHS.map(([title, members, shown]) => {
            const lines = members.map((member) => pathOf(points, member, period, now));
            const most = Math.max(...lines.map((line) => line.most));
            const isMeasured = lines.some(({ path }) => path !== '');
            const said = isMeasured ? `at most ${shown(most)}${shown === whole ? each : ''}` : NOT_MEASURED;
            return (
              <figure key={title} className={css.graph}>
                <figcaption>
                  <b>{title}</b> <span className={css.quiet}>{said}</span>
                </figcaption>
                <svg
                  viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
                  preserveAspectRatio="none"
                  role="img"
                  aria-label={`${title}, ${said}`}
                >
                  <Marks revisions={revisions} period={period} now={now} />
                  {lines.map(({ path }, at) => (
                    <path key={members[at]} d={path} className={at > 0 ? css.second : undefined} />
                  ))}
                </svg>
              </figure>
            );
          })}
        </div>
      )}
      {points && points.length > 0 && (
        <details className={css.asCommand}>
          <summary>As a table</summary>
          <List
            label="Measurements"
            items={points.slice(-MOST_ROWS).reverse()}
            keyOf={({ at }) => at}
            columns={[
              { title: 'From', kind: 'name', cell: ({ at }) => <Time at={at} /> },
              ...GRAPHS.map(([title, members, shown]) => ({
                ...{ title, kind: 'number' as const },
                cell: (point: (typeof points)[number]) =>
                  members
                    .map((member) => point[member])
                    .map((value) => (value === null ? NOT_MEASURED : shown(value)))
                    .join(', '),
              })),
            ]}
          />
        </details>
      )}
    </Section>
  );
}

/** Where revisions began to run. */
function Marks({ revisions, period, now }: { revisions: readonly Revision[]; period: Period; now: number }) {
  return revisions.map((revision) => {
    const { id, activated_at: at } = revision;
    const x = at ? placeOf(Date.parse(at), period, now) : undefined;
    return (
      x !== undefined && (
        <line key={id} x1={x} x2={x} y1={0} y2={HEIGHT}>
          <title>{`${revisionName(revision)} began to run`}</title>
        </line>
      )
    );
  });
}
