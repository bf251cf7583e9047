/** The line over bins of the same width, of which each has a height from 0 to 1, in a field of this size. */
export function stepLine(heights: readonly number[], width: number, height: number): string {
  const bin = width / heights.length;
  const steps = heights.map((share, place) => `V${round(height - share * height)}H${round((place + 1) * bin)}`);
  return `M0,${height}${steps.join('')}V${height}`;
}

/** Each count as a share of `most`; 0 when `most` is 0. */
export function shares(counts: readonly number[], most: number): number[] {
  return counts.map((count) => (most > 0 ? count / most : 0));
}

/** Cells of a grid that look alike: how many rows of the most, in steps of `LEVELS`, and on which side of the diagonal. */
interface GridLayer {
  /** 1 for a larger value than in the baseline, -1 for a smaller one, 0 for the same bin. */
  readonly side: -1 | 0 | 1;
  /** From 1 to `LEVELS`. */
  readonly level: number;
  readonly path: string;
}

export const LEVELS = 5;

/**
 * A grid of counts, a list for each bin of the baseline, as few paths: the baseline goes to the right, the other
 * experiment up. Levels are those of square roots, so that few rows are seen beside many.
 */
export function gridLayers(grid: readonly (readonly number[])[], size: number): GridLayer[] {
  const bins = grid.length;
  const most = Math.max(0, ...grid.flat());
  const cell = size / bins;
  const paths = new Map<string, { side: -1 | 0 | 1; level: number; path: string }>();
  for (const [from, counts] of grid.entries()) {
    for (const [to, count] of counts.entries()) {
      if (count === 0) continue;
      const side = Math.sign(to - from) as -1 | 0 | 1;
      const level = Math.max(1, Math.ceil(Math.sqrt(count / most) * LEVELS));
      const layer = paths.get(`${side} ${level}`) ?? { side, level, path: '' };
      layer.path += `M${round(from * cell)},${round(size - (to + 1) * cell)}h${round(cell)}v${round(cell)}h${round(-cell)}z`;
      paths.set(`${side} ${level}`, layer);
    }
  }
  return [...paths.values()];
}

/** Points of a curve through values from 0 to `most`, at places from 0 to 1; values beyond are cut. */
export function curve(
  values: readonly (number | null)[],
  places: readonly number[],
  most: number,
  [width, height]: readonly [number, number],
): string {
  return values
    .flatMap((value, index) =>
      value === null || most <= 0
        ? []
        : [`${round(places[index]! * width)},${round(height - (Math.min(value, most) / most) * height)}`],
    )
    .join(' ');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
