import type { Comparison } from '../../api/client';
import { duration, figure, middle, plain, whole } from '../../ui/format';
import { Section } from '../../ui/list';
import { Problem, Skeleton, Text } from '../../ui/parts';
import css from './compare.module.css';
import { type Asked, type Distributions as Found, useDistributions } from './data';
import { curve, gridLayers, LEVELS, shares, stepLine } from './distribution';

const [WIDTH, HEIGHT, GRID] = [320, 112, 168];

interface DistributionsProps {
  readonly asked: Asked;
  readonly comparison: Comparison;
  /** Undefined while one experiment is shown alone. */
  readonly candidate: Comparison['experiments'][number] | undefined;
  /** The key that is shown. */
  readonly shown: string;
  readonly onKey: (key: string) => void;
}

/** Distributions of the scores of a key, and of the latencies, in a candidate and in the baseline. */
export function Distributions({ asked, comparison, candidate, shown, onKey }: DistributionsProps) {
  const { keys, categories, baseline, experiments } = comparison;
  const query = useDistributions(asked, shown);
  // A key can have both scores and values.
  const names = [...new Set([...keys, ...categories].map(({ key }) => key))];
  const { data } = query;
  const of = (id: string | undefined) => data?.results.find(({ experiment }) => experiment === id);
  const base = of(baseline);
  const other = of(candidate?.id);
  const sides = [
    ...(base ? [{ name: experiments.find(({ id }) => id === baseline)?.name ?? '', result: base }] : []),
    ...(other ? [{ name: candidate!.name, result: other }] : []),
  ];
  const lower = keys.find(({ key }) => key === data?.key)?.direction === 'lower is better';
  return (
    <div className={css.side}>
      <Section
        title="Distribution"
        aside={
          <label className={css.choices}>
            of{' '}
            <select aria-label="Distribution of" value={shown} onChange={(event) => onKey(event.target.value)}>
              {names.map((name) => (
                <option key={name} value={name}>
                  {plain(name)}
                </option>
              ))}
            </select>
          </label>
        }
      >
        {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
        {!data && !query.error && <Skeleton rows={4} />}
        {data && (
          <div className={css.charts} aria-busy={query.isPlaceholderData}>
            {data.kind === 'numeric' && <Histogram found={data} sides={sides} />}
            {data.kind === 'numeric' && other?.grid && (
              <Grid grid={other.grid} edges={data.grid_edges ?? []} lower={lower} />
            )}
            {data.kind !== 'numeric' && <Parts found={data} sides={sides} />}
            {data.kind !== 'numeric' && other?.grid && (
              <Matrix labels={labelsOf(data, true)} grid={other.grid} lower={data.kind === 'category' ? null : lower} />
            )}
            <Latency found={data} sides={sides} />
          </div>
        )}
      </Section>
    </div>
  );
}

type Result = Found['results'][number];

interface Side {
  readonly name: string;
  readonly result: Result;
}

interface SidesProps {
  readonly found: Found;
  /** The baseline, and the candidate unless the baseline stands alone. */
  readonly sides: readonly Side[];
}

/** Which line is whose. */
function Legend({ sides }: { sides: readonly Side[] }) {
  return (
    <figcaption className={css.legend}>
      {sides.map(({ name, result }, place) => (
        <span key={result.experiment}>
          <svg width="16" height="8" aria-hidden="true">
            <line x1="0" x2="16" y1="4" y2="4" className={place === 0 && sides.length > 1 ? css.was : css.is} />
          </svg>{' '}
          <Text title={name}>{middle(name, 32)}</Text>
        </span>
      ))}
    </figcaption>
  );
}

function Histogram({ found: { key, edges }, sides }: SidesProps) {
  const most = Math.max(...sides.flatMap(({ result }) => result.counts));
  const [least, last] = [edges?.[0], edges?.at(-1)];
  return (
    <figure>
      <h3>Rows by score</h3>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className={css.plot}
        role="img"
        aria-label={`Rows by their score of ${key}, from ${figure(least)} to ${figure(last)}; at most ${whole(most)} in one of ${edges!.length - 1} bins`}
      >
        {[...sides].reverse().map(({ result }, place) => (
          <path
            key={result.experiment}
            d={stepLine(shares(result.counts, most), WIDTH, HEIGHT)}
            className={place === 0 ? css.area : css.outline}
          />
        ))}
      </svg>
      <Ends left={figure(least)} right={figure(last)} />
      <Legend sides={sides} />
      <Table
        head={['Score', ...sides.map(({ name }) => name)]}
        rows={edges!.slice(0, -1).map((edge, bin) => ({
          title: `${figure(edge)} … ${figure(edges![bin + 1])}`,
          counts: sides.map(({ result }) => result.counts[bin] ?? 0),
        }))}
      />
    </figure>
  );
}

function Grid({ grid, edges, lower }: { grid: Grid; edges: readonly number[]; lower: boolean }) {
  const rowsOf = (wanted: number) =>
    grid.reduce(
      (sum, counts, from) =>
        sum + counts.reduce((of, count, to) => of + (Math.sign(to - from) === wanted ? count : 0), 0),
      0,
    );
  const [up, down] = [rowsOf(1), rowsOf(-1)];
  const [above, below] = lower ? ['worse', 'better'] : ['better', 'worse'];
  return (
    <figure>
      <h3>Baseline → candidate</h3>
      <svg
        viewBox={`0 0 ${GRID} ${GRID}`}
        className={css.grid20}
        role="img"
        aria-label={`Rows by their score in the baseline, to the right, and in the candidate, up: ${whole(up)} in higher bins, ${whole(down)} in lower ones`}
      >
        {gridLayers(grid, GRID).map(({ side, level, path }) => (
          <path
            key={`${side} ${level}`}
            d={path}
            fillOpacity={level / LEVELS}
            className={side === 0 ? css.even : side > 0 !== lower ? css.gain : css.loss}
          />
        ))}
        <line x1="0" y1={GRID} x2={GRID} y2="0" className={css.zero} />
      </svg>
      <Ends left={figure(edges[0])} right={figure(edges.at(-1))} />
      <figcaption className={css.legend}>
        <span>
          {whole(up)} in {above} bins above the line, {whole(down)} in {below} ones below it
        </span>
      </figcaption>
    </figure>
  );
}

type Grid = readonly (readonly number[])[];

/** Share of each value, for a key with few values. */
function Parts({ found, sides }: SidesProps) {
  const labels = labelsOf(found, false);
  return (
    <figure>
      <h3>{found.kind === 'category' ? 'Rows by value' : 'Rows that pass'}</h3>
      <Table
        open
        head={[found.kind === 'category' ? 'Value' : 'Result', ...sides.map(({ name }) => name)]}
        rows={labels
          .map((title, place) => ({ title, counts: sides.map(({ result }) => result.counts[place] ?? 0) }))
          .filter(({ counts }) => counts.some((count) => count > 0))}
      />
    </figure>
  );
}

/** Rows by what they were in the baseline and what they are in the candidate. */
function Matrix({ labels, grid, lower }: { labels: readonly string[]; grid: Grid; lower: boolean | null }) {
  const used = labels.flatMap((label, place) =>
    grid[place]?.some((count) => count > 0) || grid.some((counts) => (counts[place] ?? 0) > 0)
      ? [{ label, place }]
      : [],
  );
  return (
    <figure>
      <h3>Baseline → candidate</h3>
      <div className={css.scroll} tabIndex={0} role="region" aria-label="From the baseline to the candidate">
        <table className={css.matrix}>
          <thead>
            <tr>
              <th>from \ to</th>
              {used.map(({ label, place }) => (
                <th key={place} className={css.number} title={label}>
                  <Text>{middle(label, 16)}</Text>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {used.map(({ label, place: from }) => (
              <tr key={from}>
                <th scope="row" title={label}>
                  <Text>{middle(label, 16)}</Text>
                </th>
                {used.map(({ place }) => {
                  const count = grid[from]?.[place] ?? 0;
                  const changed = count > 0 && place !== from && lower !== null;
                  const tone = changed ? (place > from !== lower ? css.up : css.down) : undefined;
                  return (
                    <td key={place} className={`${css.number} ${tone ?? ''} ${count === 0 ? css.faint : ''}`}>
                      {tone === css.up && '▲ '}
                      {tone === css.down && '▼ '}
                      {figure(count)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Labels of the places of the counts; those of a matrix have a place for rows without a value as well. */
function labelsOf({ kind, values }: Found, matrix: boolean): string[] {
  if (kind === 'pass/fail') return ['fail', 'pass'];
  return [...(values ?? []), 'other', ...(matrix ? ['none'] : [])];
}

/** Seconds by the share of runs that took no longer. */
function Latency({ found: { fractions }, sides }: SidesProps) {
  const at = (wanted: number) => fractions.indexOf(wanted);
  const [p50, p99] = [at(0.5), at(0.99)];
  const most = Math.max(0, ...sides.map(({ result }) => result.latency[p99] ?? 0)) * 1.1;
  if (most === 0) return null;
  const told = sides.map(
    ({ name, result }) => `${name}: p50 ${duration(result.latency[p50])}, p99 ${duration(result.latency[p99])}`,
  );
  return (
    <figure>
      <h3>Latency</h3>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={css.plot} role="img" aria-label={told.join('; ')}>
        {[0.5, 0.99].map((fraction) => (
          <line key={fraction} x1={fraction * WIDTH} x2={fraction * WIDTH} y1="0" y2={HEIGHT} className={css.zero} />
        ))}
        {sides.map(({ result }, place) => (
          <polyline
            key={result.experiment}
            points={curve(result.latency, fractions, most, [WIDTH, HEIGHT])}
            className={place === 0 && sides.length > 1 ? css.was : css.is}
          />
        ))}
      </svg>
      <Ends left="fastest" middle="p50" right="p99" />
      <Legend sides={sides} />
      <Table
        head={['Of the runs', ...sides.map(({ name }) => name)]}
        rows={fractions.map((fraction, place) => ({
          title: `${figure(fraction * 100)} %`,
          counts: sides.map(({ result }) => result.latency[place] ?? null),
        }))}
        shown={duration}
      />
    </figure>
  );
}

function Ends({ left, middle: between, right }: { left: string; middle?: string; right: string }) {
  return (
    <div className={css.ends} aria-hidden="true">
      <span>{left}</span>
      {between && <span>{between}</span>}
      <span>{right}</span>
    </div>
  );
}

interface TableProps {
  readonly head: readonly string[];
  readonly rows: readonly { readonly title: string; readonly counts: readonly (number | null)[] }[];
  readonly shown?: (value: number | null) => string;
  readonly open?: boolean;
}

/** The numbers behind a chart. */
function Table({ head, rows, shown = figure, open }: TableProps) {
  const table = (
    <div className={css.scroll} tabIndex={0} role="region" aria-label={head.join(', ')}>
      <table className={css.matrix}>
        <thead>
          <tr>
            {head.map((title, place) => (
              <th key={place} className={place > 0 ? css.number : undefined} title={title}>
                <Text>{middle(title, 24)}</Text>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, counts }, row) => (
            <tr key={row}>
              <th scope="row" title={title}>
                <Text>{middle(title, 32)}</Text>
              </th>
              {counts.map((count, place) => (
                <td key={place} className={css.number}>
                  {shown(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (open) return table;
  return (
    <details className={css.asTable}>
      <summary>As table</summary>
      {table}
    </details>
  );
}
