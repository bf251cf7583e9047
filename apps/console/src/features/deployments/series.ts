import type { Schemas } from '../../api/client';

type Point = Schemas['MetricsPoint'];
export type Measured = Exclude<keyof Point, 'at'>;
export type Period = Schemas['DeploymentMetrics']['period'];

const PERIOD_MS: Readonly<Record<Period, number>> = { minute: 60_000, hour: 3_600_000 };
const SPAN_MS: Readonly<Record<Period, number>> = { minute: 86_400_000, hour: 31 * 86_400_000 };

export const WIDTH = 600;
export const HEIGHT = 60;

/** The place of a time in a graph that ends now; undefined when it is outside. */
export function placeOf(time: number, period: Period, now: number): number | undefined {
  const x = WIDTH * (1 - (now - time) / SPAN_MS[period]);
  return x < 0 || x > WIDTH ? undefined : x;
}

/**
 * The line of what was measured, as the path of an SVG: it is broken where nothing was. `most` is the value at the top.
 */
export function pathOf(points: readonly Point[], member: Measured, period: Period, now: number) {
  const known = points.flatMap(({ at, [member]: value }) => (value === null ? [] : [{ at: Date.parse(at), value }]));
  const most = known.reduce((most, { value }) => Math.max(most, value), 0);
  const y = (value: number) => (HEIGHT - (most === 0 ? 0 : (value / most) * HEIGHT)).toFixed(1);
  let path = '';
  let end = NaN;
  for (const { at, value } of known) {
    const x = placeOf(at, period, now);
    if (x === undefined) continue;
    path += `${at === end ? 'L' : 'M'}${x.toFixed(1)} ${y(value)}h${(WIDTH * PERIOD_MS[period]) / SPAN_MS[period]}`;
    end = at + PERIOD_MS[period];
  }
  return { path, most, last: known.at(-1)?.value };
}
