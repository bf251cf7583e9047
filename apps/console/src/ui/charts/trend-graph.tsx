import { duration, figure, percent, whole } from '../format';
import css from '../parts.module.css';

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A mean of a trend with what is known of its uncertainty. */
interface Mean {
  readonly mean: number | null;
  readonly interval: Range | null;
  /** Where the mean lies when the same rows are run again. */
  readonly rerun: Range | null;
  /** Rows that the mean is over. */
  readonly scored: number;
}

interface Point extends Mean {
  readonly id: string;
  readonly name: string;
  /** Short name below the graph. */
  readonly tick: string;
}

interface GraphProps {
  /** In their order, the oldest first. */
  readonly points: readonly Point[];
  readonly show: (value: number) => string;
  /** Word for the points, such as `experiments`. */
  readonly of: string;
}

/** Pixels of the height, and of that the part above the names; points stand so many per cent from the sides. */
const [HEIGHT, BASE, EDGE] = [180, 160, 4];
const MOST_TICKS = 12;
const MEASURES = { latency: 'Latency', tokens: 'Tokens of a run', cost: 'Cost of a run', errors: 'Errors' } as const;
const SHOWN: Readonly<Record<string, (value: number | null) => string>> = { latency: duration, errors: percent };

/** A score or a measure that a trend follows. */
export type Followed = { readonly key: string } | { readonly measure: keyof typeof MEASURES };

/** The score or the measure that an address names, else the first of the keys, else the latency. */
export function followedIn(search: { readonly key?: string; readonly measure?: string }, keys: readonly string[]) {
  const measure = (Object.keys(MEASURES) as (keyof typeof MEASURES)[]).find((name) => name === search.measure);
  const key = measure === undefined ? (search.key ?? keys[0]) : undefined;
  const followed: Followed = key === undefined ? { measure: measure ?? 'latency' } : { key };
  const options = Object.fromEntries([
    ...[...new Set([...keys, ...(key === undefined ? [] : [key])])].map((name) => [`key:${name}`, name]),
    ...Object.entries(MEASURES).map(([name, title]) => [`measure:${name}`, title]),
  ]) as Record<string, string>;
  const [value, show] =
    'key' in followed
      ? [`key:${followed.key}`, figure]
      : [`measure:${followed.measure}`, SHOWN[followed.measure] ?? figure];
  /** The parameters of an address for one of the options. */
  const named = (option: string) => {
    const at = option.indexOf(':');
    return { key: undefined, measure: undefined, [option.slice(0, at)]: option.slice(at + 1) };
  };
  return { followed, options, value, named, show };
}

/** Columns of the table of a trend. */
export function meanColumns(show: (value: number | null) => string) {
  const kind = 'number' as const;
  return [
    { title: 'Mean', kind, cell: ({ mean }: Mean) => show(mean) },
    { title: '95 % interval', kind, cell: ({ interval }: Mean) => range(interval, show) },
    {
      title: 'Run again',
      kind,
      about: 'Where the mean lies when the same rows are run again, as far as their repetitions tell it',
      cell: ({ rerun }: Mean) => range(rerun, show),
    },
    { title: 'Rows', kind, cell: ({ scored }: Mean) => whole(scored) },
  ];
}

function range(interval: Range | null, show: (value: number) => string): string {
  return interval ? `${show(interval.low)} … ${show(interval.high)}` : '–';
}

/** Means in their order: a band for the interval, bars for the same rows run again. Nothing for fewer than two. */
export function Graph({ points, show, of }: GraphProps) {
  const known = points.flatMap(({ mean, ...point }, place) => (mean === null ? [] : [{ ...point, mean, place }]));
  const ends = known.flatMap(({ mean, interval, rerun }) =>
    [interval, rerun].flatMap((one) => [mean, one?.low ?? mean, one?.high ?? mean]),
  );
  if (known.length < 2) return null;
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const x = (place: number) => EDGE + (place / Math.max(1, points.length - 1)) * (100 - 2 * EDGE);
  const y = (value: number) => (most > least ? 96 - ((value - least) / (most - least)) * 92 : 50);
  const pixels = (value: number) => (y(value) / 100) * BASE;
  const side = (end: 'low' | 'high') => known.map((one) => `${x(one.place)},${y(one.interval?.[end] ?? one.mean)}`);
  const isRepeated = known.some(({ rerun }) => rerun !== null);
  const step = Math.ceil(points.length / MOST_TICKS);
  const [first, last] = [known[0]!, known.at(-1)!];
  const said = `${whole(known.length)} ${of}, from ${show(first.mean)} to ${show(last.mean)}; the table below has the numbers`;
  return (
    <figure className={css.trend}>
      <div aria-hidden="true" className={css.ends}>
        <span>{show(most)}</span>
        <span>{show(least)}</span>
      </div>
      <svg width="100%" height={HEIGHT} role="img" aria-label={said}>
        <svg width="100%" height={BASE} viewBox="0 0 100 100" preserveAspectRatio="none">
          <polygon points={[...side('high'), ...side('low').reverse()].join(' ')} className={css.band} />
          <polyline points={known.map(({ place, mean }) => `${x(place)},${y(mean)}`).join(' ')} className={css.line} />
        </svg>
        {known.map(({ id, name, place, mean, interval, rerun }) => (
          <g key={id}>
            {rerun && (
              <line
                x1={`${x(place)}%`}
                x2={`${x(place)}%`}
                y1={pixels(rerun.high)}
                y2={pixels(rerun.low)}
                className={css.rerun}
              />
            )}
            <circle cx={`${x(place)}%`} cy={pixels(mean)} r="3.5" className={css.dot}>
              <title>{`${name}: ${show(mean)}${interval ? ` (${range(interval, show)})` : ''}`}</title>
            </circle>
          </g>
        ))}
        {points.map(
          ({ id, tick }, place) =>
            (points.length - 1 - place) % step === 0 && (
              <text key={id} x={`${x(place)}%`} y={HEIGHT - 4} className={css.tick}>
                {tick}
              </text>
            ),
        )}
      </svg>
      <figcaption>
        Shaded: 95 % interval of the mean{isRepeated && '; bars: where it lies when the same rows are run again'}
      </figcaption>
    </figure>
  );
}
