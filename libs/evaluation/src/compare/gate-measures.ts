import type { Comparison } from './comparisons.service';
import { type Findings, type Limits, shown } from './gate-limits';
import { type Measure, MEASURES, type ScoreTable } from './score-table';

/** Holds the measures of an experiment that have limits against those of the baseline. */
export function checkMeasures(
  findings: Findings,
  { table, measures }: Comparison,
  place: number,
  { measures: limits }: Limits,
): void {
  for (const measure of MEASURES) {
    const given = limits[measure];
    if (!given) continue;
    const { mean, difference } = measures.find((one) => one.measure === measure)?.results[place] ?? {};
    findings.limit(`the mean of ${measure}`, mean, { most: given.max_mean });
    findings.limit(`the mean increase of ${measure}`, difference, { most: given.max_increase });
    checkKnown(findings, table, place, measure, given.min_known);
  }
}

/** A row of which the baseline has the measure must have it too, or `least` must let some be without. */
function checkKnown(
  findings: Findings,
  { rows, experiments }: ScoreTable,
  place: number,
  measure: Measure,
  least?: number,
) {
  const [before, after] = [0, place].map((one) => experiments[one]!.measures.get(measure)?.means);
  let [known, both] = [0, 0];
  for (let row = 0; row < rows; row++) {
    if (Number.isNaN(before?.[row] ?? NaN)) continue;
    known++;
    if (!Number.isNaN(after?.[row] ?? NaN)) both++;
  }
  if (least === undefined) {
    if (known > both)
      findings.gap(`${known - both} of ${known} rows could not be compared on ${measure}: they have none.`);
  } else if (known === 0) findings.gap(`the baseline has no ${measure}.`);
  else if (both / known < least) {
    findings.fail(`${both} of ${known} rows have ${measure}, less than ${shown(least * 100)} %.`);
  }
}
