import type { KeyScores } from './score-table';

/** The column of runs that have one value each, given the rows of the runs. */
export function columnOf(rowsOfRuns: Int32Array, values: Float64Array, rows: number): KeyScores {
  const runs = values.length;
  return {
    ...meansOf(rowsOfRuns, values, rows),
    runs,
    scores: runs,
    ...boundsOf(values),
    passFail: false,
    sources: [],
  };
}

export function boundsOf(values: Float64Array) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

/**
 * The mean of the values of each group, NaN for a group without any, the mean standard deviation of groups with several,
 * and the standard deviation that it gives to the mean of all groups. The order of the values changes nothing.
 */
export function meansOf(groups: Int32Array, values: Float64Array, size: number) {
  const means = new Float64Array(size).fill(NaN);
  const several = new Map<number, number[]>();
  for (let at = 0; at < groups.length; at++) {
    const [group, value] = [groups[at]!, values[at]!];
    if (Number.isNaN(means[group]!)) means[group] = value;
    else {
      const known = several.get(group);
      if (known) known.push(value);
      else several.set(group, [means[group]!, value]);
    }
  }
  const deviations: number[] = [];
  const sizes: number[] = [];
  for (const [group, list] of several) {
    let [mean, squares] = [0, 0];
    for (const [at, value] of list.sort((a, b) => a - b).entries()) {
      const before = mean;
      mean += (value - mean) / (at + 1);
      squares += (value - before) * (value - mean);
    }
    means[group] = mean;
    deviations.push(Math.sqrt(squares / (list.length - 1)));
    sizes.push(list.length);
  }
  if (deviations.length === 0) return { means };
  deviations.sort((a, b) => a - b);
  const sum = (of: (one: number) => number) => deviations.reduce((all, one) => all + of(one), 0) / deviations.length;
  const filled = means.reduce((count, mean) => count + Number(!Number.isNaN(mean)), 0);
  // Groups with one value vary like the others.
  const all = sizes.sort((a, b) => a - b).reduce((parts, size) => parts + 1 / size, filled - sizes.length);
  return { means, spread: sum((one) => one), noise: Math.sqrt(sum((one) => one ** 2) * all) / filled };
}
