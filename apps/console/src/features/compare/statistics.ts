import type { Keyed } from '../../../../../libs/evaluation/src/report/verdicts';

/** Share of tests that give an alarm although nothing differs. */
const ALARMS = 0.05;
/** Which of some probabilities are small also when it is considered how many there are, by Holm's method. */
export function holm(values: readonly (number | null)[]): boolean[] {
  const order = values.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const kept = values.map(() => false);
  for (const [rank, { p, index }] of order.entries()) {
    if (p >= ALARMS / (order.length - rank)) break;
    kept[index] = true;
  }
  return kept;
}

/** The tests on a page, and the key and experiment of those that survive Holm's correction. */
export function correct(keys: readonly Keyed[]): { tests: number; alarms: number; surviving: ReadonlySet<string> } {
  const tested = keys.flatMap(({ key, results }) =>
    results.flatMap(({ experiment, test }) =>
      test && test.p !== null ? [{ name: nameOf(key, experiment), p: test.p }] : [],
    ),
  );
  const kept = holm(tested.map(({ p }) => p));
  return {
    tests: tested.length,
    alarms: tested.length * ALARMS,
    surviving: new Set(tested.filter((_, index) => kept[index]).map(({ name }) => name)),
  };
}

/** Names the test of a key and an experiment. */
export function nameOf(key: string, experiment: string): string {
  return `${experiment} ${key}`;
}

/** Returns the part of a filter for rows that went from one label to another; null stands for any other label. */
export function labelFilter(from: string | null, to: string | null): string {
  const encoded = (label: string | null) => (label === null ? '' : encodeURIComponent(label));
  return `label=${encoded(from)},${encoded(to)}`;
}

/** Returns the kinds or labels of a filter in words. */
export function filterText(kinds: string): string {
  const [, from, to] = /^label=([^,]*),(.*)$/.exec(kinds) ?? [];
  if (from === undefined || to === undefined) return kinds.replaceAll(',', ', ');
  return [from, to].map((label) => (label === '' ? 'other' : decoded(label))).join(' → ');
}

function decoded(label: string): string {
  try {
    return decodeURIComponent(label);
  } catch {
    return label;
  }
}
