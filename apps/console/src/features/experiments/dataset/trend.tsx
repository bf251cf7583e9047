import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, type Schemas } from '../../../api/client';
import { useAddress } from '../../../ui/address';
import { Filters, Pick } from '../../../ui/form';
import { duration, figure, middle, percent, whole } from '../../../ui/format';
import { List, More, Nothing } from '../../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../../ui/parts';
import { keyCounts, useExperiments } from '../data';
import css from '../experiments.module.css';

type Point = Schemas['TrendPoint'];

const PAGE = 50;
const [WIDTH, HEIGHT, EDGE] = [640, 160, 8];
const MEASURES = { latency: 'Latency', tokens: 'Tokens of a run', cost: 'Cost of a run', errors: 'Errors' } as const;
const SHOWN: Readonly<Record<string, (value: number | null) => string>> = { latency: duration, errors: percent };

/** A score or a measure over the experiments of a dataset; the address names which one as `key` or `measure`. */
export function Trend({ dataset }: { dataset: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const newest = useExperiments({ dataset });
  const keys = keyCounts(newest.data?.pages[0]?.resources ?? []).map(([key]) => key);
  const measure = Object.keys(MEASURES).find((name) => name === search.measure);
  const key = measure === undefined ? (search.key ?? keys[0]) : undefined;
  const asked = key === undefined ? { measure: (measure ?? 'latency') as keyof typeof MEASURES } : { key };
  const query = useInfiniteQuery({
    queryKey: ['trend', w, dataset, key ?? '', asked.measure ?? ''],
    queryFn: ({ pageParam, signal }) => {
      const page = { limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      const params = { path: { dataset_id: dataset }, query: { ...asked, ...page } };
      return answered(api.GET('/api/v1/datasets/{dataset_id}/trend', { params, signal })) as Promise<Schemas['Trend']>;
    },
    enabled: newest.data !== undefined,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const failed = query.error ?? newest.error;
  if (failed && !query.data) return <Problem error={failed} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton />;
  const points = query.data.pages.flatMap(({ resources }) => resources);
  if (points.length === 0) return <Nothing title="No experiment ran on this dataset yet." />;
  const show = SHOWN[asked.measure ?? ''] ?? figure;
  const chosen = key === undefined ? `measure:${asked.measure}` : `key:${key}`;
  const number = 'number' as const;
  return (
    <>
      <Filters>
        <Pick
          label="Followed"
          value={chosen}
          onChange={(name) => {
            const [kind, rest] = [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
            change({ key: undefined, measure: undefined, [kind]: rest });
          }}
          options={Object.fromEntries([
            ...[...new Set([...keys, ...(key === undefined ? [] : [key])])].map((name) => [`key:${name}`, name]),
            ...Object.entries(MEASURES).map(([name, title]) => [`measure:${name}`, title]),
          ])}
        />
      </Filters>
      <Graph points={points.toReversed()} show={show} />
      <List
        label="Trend"
        items={points}
        keyOf={({ experiment_id: id }) => id}
        columns={[
          {
            title: 'Experiment',
            kind: 'name',
            cell: ({ experiment_id: id, name, test_run_number: place }) => (
              <>
                <span className={css.place}>{place}</span>
                <Link
                  to="/o/$w/datasets/$dataset/compare"
                  params={{ w, dataset }}
                  search={{ selectedSessions: id }}
                  title={name}
                >
                  <Text>{middle(name, 40)}</Text>
                </Link>
              </>
            ),
          },
          { title: 'Mean', kind: number, cell: ({ mean }) => show(mean) },
          { title: '95 % interval', kind: number, cell: ({ interval }) => range(interval, show) },
          {
            title: 'Run again',
            kind: number,
            about: 'Where the mean lies when the same rows are run again, as far as their repetitions tell it',
            cell: ({ rerun }) => range(rerun, show),
          },
          { title: 'Rows', kind: number, cell: ({ scored }) => whole(scored) },
          { title: 'Started', kind: number, cell: ({ start_time: start }) => <Time at={start} /> },
        ]}
      />
      <More query={query} />
    </>
  );
}

function range(interval: Point['interval'], show: (value: number) => string): string {
  return interval ? `${show(interval.low)} … ${show(interval.high)}` : '–';
}

/** Means in their order, the oldest first: a band for the interval, dashes for the same rows run again. */
function Graph({ points, show }: { points: readonly Point[]; show: (value: number) => string }) {
  const known = points.flatMap(({ mean, ...point }, place) => (mean === null ? [] : [{ ...point, mean, place }]));
  const ends = known.flatMap(({ mean, interval, rerun }) =>
    [interval, rerun].flatMap((one) => [mean, one?.low ?? mean, one?.high ?? mean]),
  );
  if (known.length < 2) return null;
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const x = (place: number) => EDGE + (place / Math.max(1, points.length - 1)) * (WIDTH - 2 * EDGE);
  const y = (value: number) =>
    most > least ? HEIGHT - EDGE - ((value - least) / (most - least)) * (HEIGHT - 2 * EDGE) : HEIGHT / 2;
  const band = (of: 'interval' | 'rerun') => {
    const side = (end: 'low' | 'high') => known.map((one) => `${x(one.place)},${y(one[of]?.[end] ?? one.mean)}`);
    return [...side('high'), ...side('low').reverse()].join(' ');
  };
  const isRepeated = known.some(({ rerun }) => rerun !== null);
  const [first, last] = [known[0]!, known.at(-1)!];
  const said = `${whole(known.length)} experiments, from ${show(first.mean)} to ${show(last.mean)}; the table below has the numbers`;
  return (
    <figure className={css.trend}>
      <span aria-hidden="true">{show(most)}</span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={said}>
        <polygon points={band('interval')} className={css.band} />
        {isRepeated && <polygon points={band('rerun')} className={css.rerun} />}
        <polyline points={known.map(({ place, mean }) => `${x(place)},${y(mean)}`).join(' ')} className={css.line} />
        {known.map(({ experiment_id: id, name, place, mean, interval }) => (
          <circle key={id} cx={x(place)} cy={y(mean)} r="3" className={css.dot}>
            <title>{`${name}: ${show(mean)}${interval ? ` (${range(interval, show)})` : ''}`}</title>
          </circle>
        ))}
      </svg>
      <span aria-hidden="true">{show(least)}</span>
      <figcaption>
        Shaded: 95 % interval of the mean{isRepeated && '; dashed: where it lies when the same rows are run again'}
      </figcaption>
    </figure>
  );
}
