import { labelTest } from '../../../../../libs/evaluation/src/report/verdicts';
import type { Comparison } from '../../api/client';
import { figure, middle, percent, probability, scoredRuns, whole } from '../../ui/format';
import { Sign, Text, Unseen } from '../../ui/parts';
import { Bar } from './bar';
import css from './compare.module.css';
import { labelFilter, nameOf } from './statistics';

type CategoryComparison = Comparison['categories'][number];
type CategoryResult = CategoryComparison['results'][number];

/** Changes from one label to another that are shown at once. */
const MOST_CHANGES = 3;

interface CategoryProps {
  readonly category: CategoryComparison;
  /** The key has scores as well, and the rows are filtered by these. */
  readonly scored: boolean;
  readonly experiments: Comparison['experiments'];
  /** The filter in use. */
  readonly filter: string | undefined;
  readonly onFilter: (rows: string | undefined) => void;
  /** Names of the tests that are clear also when it is considered how many there are. */
  readonly surviving: ReadonlySet<string>;
}

/** Number of rows of each experiment with each label of a key, and what became of them since the baseline. */
export function Category({ category, scored: hasScores, experiments, filter, onFilter, surviving }: CategoryProps) {
  const { key, values, label_values: numbers, results } = category;
  const others = results.some(({ other }) => other > 0);
  const alone = experiments.length === 1;
  return (
    <div className={css.category} tabIndex={0} role="region" aria-label={`Values of ${key}`}>
      <table className={css.head}>
        <thead>
          <tr>
            <th>
              <Text>{key}</Text>
            </th>
            {!alone && (
              <>
                <th>Against the baseline</th>
                <th>Rows</th>
              </>
            )}
            {values.map((value, place) => (
              <th key={value} className={css.number} title={value}>
                <Text>{middle(value, 24)}</Text>
                {numbers?.[place] != null && ` = ${figure(numbers[place])}`}
              </th>
            ))}
            {others && <th className={css.number}>other</th>}
          </tr>
        </thead>
        <tbody>
          {results.map((result, place) => {
            const { experiment, scored, runs, counts, other } = result;
            const { name, run_count } = experiments[place]!;
            return (
              <tr key={experiment}>
                <th scope="row" className={css.experiment}>
                  <span title={name}>
                    <Text>{name}</Text>
                  </span>
                  <span className={css.faint}>{scoredRuns(runs, run_count)}</span>
                </th>
                {!alone && (
                  <>
                    <td className={css.verdict}>
                      {!numbers && <Verdict result={result} firm={surviving.has(nameOf(labelTest(key), experiment))} />}
                    </td>
                    <td className={css.accounting}>
                      {result.row_counts && !hasScores && (
                        <Bar
                          counts={result.row_counts}
                          chosen={filter}
                          filterOf={(kind) => `${experiment}:${kind}:${key}`}
                          onChoose={onFilter}
                        />
                      )}
                      <Changes keyed={key} result={result} filter={filter} onFilter={onFilter} />
                    </td>
                  </>
                )}
                {counts.map((count, at) => (
                  <td key={values[at]} className={css.number} data-label={values[at]}>
                    {figure(count)} <span className={css.faint}>{percent(scored > 0 ? count / scored : null)}</span>
                  </td>
                ))}
                {others && (
                  <td className={css.number} data-label="other">
                    {figure(other)}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Verdict({ result: { verdict, row_counts: rows, p }, firm }: { result: CategoryResult; firm: boolean }) {
  if (!verdict || !rows) return null;
  if (p == null) return <span className={css.faint}>nothing to compare</span>;
  const changed = verdict === 'changed';
  return (
    <>
      <span className={`${css.badge} ${changed ? '' : css.unclear}`}>
        <span aria-hidden="true">{changed ? '≠' : '≈'}</span> {verdict}
        {firm && <Unseen>, also when the number of tests is considered</Unseen>}
      </span>{' '}
      {whole(rows.changed)} of {whole(rows.same + rows.changed)} rows, p {probability(p)}
    </>
  );
}

interface ChangesProps {
  readonly keyed: string;
  readonly result: CategoryResult;
  readonly filter: string | undefined;
  readonly onFilter: (rows: string | undefined) => void;
}

/** From which label to which one rows went; each filters the rows. */
function Changes({ keyed, result: { experiment, changes = [] }, filter, onFilter }: ChangesProps) {
  const buttons = changes.map(({ from, to, rows }) => {
    const chosen = `${experiment}:${labelFilter(from, to)}:${keyed}`;
    const pressed = chosen === filter;
    return (
      <button
        key={chosen}
        type="button"
        aria-pressed={pressed}
        title={`${from ?? 'other'} → ${to ?? 'other'}`}
        onClick={() => onFilter(pressed ? undefined : chosen)}
      >
        <Text>{middle(from ?? 'other', 16)}</Text> <Sign sign="→">to</Sign> <Text>{middle(to ?? 'other', 16)}</Text>{' '}
        {figure(rows)}
      </button>
    );
  });
  if (buttons.length === 0) return null;
  return (
    <>
      <div className={css.parts}>{buttons.slice(0, MOST_CHANGES)}</div>
      {buttons.length > MOST_CHANGES && (
        <details className={css.asTable}>
          <summary>{whole(buttons.length - MOST_CHANGES)} more</summary>
          <div className={css.parts}>{buttons.slice(MOST_CHANGES)}</div>
        </details>
      )}
    </>
  );
}

/** Labels of a row; each has a share of its runs. */
type RowLabels = Readonly<Record<string, number>>;

interface LabelsProps {
  readonly of: RowLabels | undefined;
  /** Labels in the baseline; undefined where there is nothing to compare with. */
  readonly before?: RowLabels;
}

/** Shows the labels that a row has of one key, marked where the baseline has others. */
export function Labels({ of, before }: LabelsProps) {
  const labels = Object.entries(of ?? {});
  if (labels.length === 0) return null;
  const shown = labels.map(([label, share]) => middle(label, 24) + (share < 1 ? ` ${percent(share)}` : ''));
  return (
    <span title={labels.map(([label]) => label).join(', ')}>
      {before && labelsChanged(before, of!) && <Sign sign="≠">changed to</Sign>} <Text>{shown.join(', ')}</Text>
    </span>
  );
}

/** Returns true when a row has other labels than in the baseline, or other shares of them. */
export function labelsChanged(before: RowLabels, after: RowLabels): boolean {
  const [had, has] = [Object.entries(before), Object.keys(after)];
  return had.length !== has.length || had.some(([label, share]) => after[label] !== share);
}
