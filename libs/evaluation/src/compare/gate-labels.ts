import { shareChanges } from './categories';
import type { CategoryComparison } from './compare.answers.schema';
import { type Findings, type KeyLimits, type LabelLimits, shown } from './gate-limits';
import { countLabels, isWhole, unvaluedLabels } from './labels';
import type { ScoreTable } from './score-table';

/** Places of the baseline and of the experiment at `place`, each with what its sentences add to `rows`. */
export function baselineAnd(place: number): [place: number, of: string][] {
  return [
    [0, ' of the baseline'],
    [place, ''],
  ];
}

/**
 * Holds the labels of a key to limits of their shares. Without such limits, labels that have values are compared as scores;
 * others have no order: rows whose labels stay as they were are the same, and any others leave the gate undecided.
 */
export function checkLabels(
  findings: Findings,
  table: ScoreTable,
  { key, results }: CategoryComparison,
  place: number,
  limits: KeyLimits,
): void {
  for (const [index, of] of baselineAnd(place)) {
    const found = unvaluedLabels(table, index, key);
    if (!found) continue;
    const { scored } = results[index]!;
    findings.gap(`${found.rows} of ${scored} rows${of} have labels of ${key} that have no value: ${found.shown}.`);
  }
  const asked = Object.entries(limits.labels ?? {});
  for (const [label, limit] of asked) checkShare(findings, table, key, place, label, limit);
  const { row_counts: rows } = results[place]!;
  if (!rows || table.labelValues.has(key)) return;
  if (rows.same > 0) findings.compared = true;
  if (rows.changed > 0 && asked.length === 0) {
    findings.gap(
      `${rows.changed} of ${rows.same + rows.changed} rows have other labels of ${key}, which have no order.`,
    );
  }
}

function checkShare(
  findings: Findings,
  table: ScoreTable,
  key: string,
  place: number,
  label: string,
  { min_share: least, max_share: most, max_drop: drop, max_rise: rise }: LabelLimits,
): void {
  const [before, after] = [table.experiments[0]!.labels.get(key), table.experiments[place]!.labels.get(key)];
  const what = `the share of ${label} in ${key}`;
  // A label that is not told apart from others may have any share.
  const known = (column: typeof after) => column?.labels.includes(label) || (column?.labels.every(isWhole) ?? false);
  if ((least ?? most) !== undefined) {
    const counted = after && isWhole(label) && known(after) ? countLabels(after) : undefined;
    const share = counted && (counted.counts.get(label) ?? 0) / counted.scored;
    if (share !== undefined) findings.compared = true;
    findings.limit(what, share, { least, most });
  }
  if ((drop ?? rise) === undefined) return;
  const changes = isWhole(label) && known(before) && known(after) ? shareChanges(table, place, key) : undefined;
  if (!changes) return findings.gap(`${what} cannot be compared, no row has this kind of label in both experiments.`);
  findings.compared = true;
  const change = changes.get(label)?.difference ?? 0;
  if (drop !== undefined && -change > drop) findings.fail(`${what} fell by ${shown(-change)}, more than ${drop}.`);
  if (rise !== undefined && change > rise) findings.fail(`${what} rose by ${shown(change)}, more than ${rise}.`);
}
