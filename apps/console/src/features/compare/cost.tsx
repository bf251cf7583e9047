import { figure, middle } from '../../ui/format';
import { Section } from '../../ui/list';
import { Text } from '../../ui/parts';
import css from './compare.module.css';
import type { Costed } from './cost-points';

/** Pixels of the height, and the per cent that points stand from the sides at least. */
const [HEIGHT, EDGE] = [180, 8];

/** A point for each experiment: its score upwards, the cost of a run to the right; the table has the numbers. */
export function ScoreAgainstCost({ of: points, score }: { of: readonly Costed[]; score: string }) {
  const scaled = (member: 'cost' | 'mean') => {
    const [least, most] = [Math.min, Math.max].map((of) => of(...points.map((one) => one[member]))) as [number, number];
    const place = (value: number) => (most > least ? EDGE + ((value - least) / (most - least)) * (100 - 2 * EDGE) : 50);
    return { least, most, place };
  };
  const [costs, means] = [scaled('cost'), scaled('mean')];
  return (
    <Section title="Score against cost">
      <figure className={css.costs}>
        <div aria-hidden="true" className={css.costEnds}>
          <span>{figure(means.most)}</span>
          <span>{figure(means.least)}</span>
        </div>
        <svg
          width="100%"
          height={HEIGHT}
          role="img"
          aria-label={`${points.length} experiments by ${score} and cost of a run; the table below has the numbers`}
        >
          {points.map(({ id, name, number, cost, mean, outdone }) => {
            const [x, y] = [costs.place(cost), ((100 - means.place(mean)) / 100) * HEIGHT];
            return (
              <g key={id}>
                <circle cx={`${x}%`} cy={y} r="5" data-outdone={outdone.length > 0}>
                  <title>{`${name}: ${figure(mean)} for ${figure(cost)}`}</title>
                </circle>
                <text x={`${x}%`} y={y} dx="9" dy="4">
                  {number}
                </text>
              </g>
            );
          })}
        </svg>
        <figcaption>
          <span>{figure(costs.least)}</span>
          <span>cost of a run</span>
          <span>{figure(costs.most)}</span>
        </figcaption>
      </figure>
      <div className={css.scroll} tabIndex={0} role="region" aria-label="Scores and costs">
        <table className={css.matrix}>
          <thead>
            <tr>
              <th>Experiment</th>
              <th className={css.number}>
                <Text>{middle(score, 24)}</Text>
              </th>
              <th className={css.number}>Cost of a run</th>
              <th>As good or better for no more</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ id, name, number, cost, mean, outdone }) => (
              <tr key={id}>
                <th scope="row">
                  {number} <Text title={name}>{middle(name, 32)}</Text>
                </th>
                <td className={css.number}>{figure(mean)}</td>
                <td className={css.number}>{figure(cost)}</td>
                <td>{outdone.join(', ') || 'none'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
