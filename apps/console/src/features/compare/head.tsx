import { useRef, useState } from 'react';
import { difference, type Tested, verdictText } from '../../../../../libs/evaluation/src/report/verdicts';
import type { Comparison } from '../../api/client';
import { Action } from '../../ui/action';
import { Dialog } from '../../ui/dialog';
import { Finder } from '../../ui/columns/finder';
import { duration, figure, middle, percent, scoredRuns, whole } from '../../ui/format';
import { Further } from '../../ui/columns/list-head';
import { Button, Sign, Text, Unseen } from '../../ui/parts';
import { Bar } from './bar';
import css from './compare.module.css';
import type { KeyComparison } from './data';
import { Interval } from './interval';
import { nameOf } from './statistics';

interface HeadProps {
  readonly comparison: Comparison;
  readonly focus: KeyComparison | undefined;
  readonly filter: string | undefined;
  /** Names of the tests that are clear also when it is considered how many there are. */
  readonly surviving: ReadonlySet<string>;
  /** The candidate that keys go by; undefined when there is no choice. */
  readonly candidate: string | undefined;
  /** Only the scores are shown to choose from. */
  readonly folded: boolean;
  readonly onFold: () => void;
  readonly onKey: (key: string) => void;
  readonly onBaseline: (id: string) => void;
  /** The baseline of the dataset, null for none; undefined until it is known. */
  readonly kept: string | null | undefined;
  /** Makes the baseline that is shown that of the dataset; undefined while that is being done. */
  readonly onKeep: (() => void) | undefined;
  readonly onFilter: (rows: string | undefined) => void;
}

/** Keys that stand beside each other; of more, so many do, and the others can be searched. */
const [MOST_KEYS, MOST_FOREMOST] = [12, 8];
const MOST_NAME = 32;
/** Lines of experiments that are shown at once; further candidates share one. */
const MOST_LINES = 5;

const MEASURED = { kind: 'numeric' } as const;
const USED = { tokens: 'Tokens', cost: 'Cost' } as const;
const MARKS = { better: '▲', worse: '▼', 'not clear': '≈' } as const;

/** Results of each experiment on the key in focus. */
export function Head(props: HeadProps) {
  const { comparison, focus, filter, surviving, candidate, folded, kept } = props;
  const { onFold, onKey, onBaseline, onFilter, onKeep } = props;
  const { keys, categories, experiments, baseline } = comparison;
  const alone = experiments.length === 1;
  const used = (['tokens', 'cost'] as const).flatMap((name) => {
    const results = comparison.measures.find(({ measure }) => measure === name)?.results;
    return results ? [{ title: USED[name], results }] : [];
  });
  const results = focus?.results as readonly Tested[] | undefined;
  const ends = (results ?? []).flatMap(({ test }) => (test?.interval ? [test.interval.low, test.interval.high] : []));
  const [all, setAll] = useState(false);
  const [seeking, setSeeking] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const ordered = bestFirst(experiments, focus, baseline);
  const isShown = ({ id }: { id: string }, place: number) =>
    all || ordered.length <= MOST_LINES || place < MOST_LINES - 1 || id === candidate;
  const shown = ordered.filter(isShown);
  const rest = ordered.filter((one, place) => !isShown(one, place));
  const span = Math.max(...ends.map(Math.abs), 1e-9) * 1.1;
  return (
    <section aria-label="Statistics">
      <div className={css.keys} role="group" aria-label="Score">
        {foremost(keys, focus).map(({ key, direction, results }) => (
          <button key={key} type="button" aria-pressed={key === focus?.key} title={key} onClick={() => onKey(key)}>
            <Text>{middle(key, MOST_NAME)}</Text> <Better of={direction} />
            <Clear results={results} />
          </button>
        ))}
        {keys.length > MOST_KEYS && (
          <button type="button" onClick={() => setSeeking(true)}>
            All {whole(keys.length)} scores …
          </button>
        )}
        {keys.length === 0 && (
          <p className={css.faint}>
            {categories.length === 0 ? 'These experiments have no scores.' : 'These experiments have labels only.'}
          </p>
        )}
        <Button kind="quiet" aria-expanded={!folded} title="s" className={css.fold} onClick={onFold}>
          {folded ? 'Show statistics' : 'Fold statistics'}
        </Button>
      </div>
      {seeking && (
        <Dialog title="Scores" onClose={() => setSeeking(false)}>
          <Finder
            what="a score"
            verb="Show"
            chosen={focus?.key ?? ''}
            items={keys.map((one) => ({ ...one, id: one.key, title: one.key, group: groupOf(one.key) }))}
            beside={({ direction, results }) => (
              <>
                {' '}
                <Better of={direction} />
                <Clear results={results} />
              </>
            )}
            onPick={({ key }) => {
              onKey(key);
              setSeeking(false);
            }}
          />
        </Dialog>
      )}
      {!folded && (
        <div className={css.frame}>
          <div ref={scroller} className={css.scroll} tabIndex={0} role="region" aria-label="Statistics by experiment">
            <table className={css.head}>
              <thead>
                <tr>
                  <th>Experiment</th>
                  <th className={css.number}>Mean</th>
                  {!alone && (
                    <>
                      <th>Difference, 95 % interval</th>
                      <th className={css.axis}>
                        <Unseen>Interval</Unseen>
                        {focus && (
                          <div>
                            <span>{difference(-span, focus.kind).replace(' points', '')}</span>
                            <span>0</span>
                            <span>{difference(span, focus.kind).replace(' points', '')}</span>
                          </div>
                        )}
                      </th>
                      <th>Rows</th>
                    </>
                  )}
                  <th className={css.number}>p50</th>
                  {used.map(({ title }) => (
                    <th key={title} className={css.number} title="Mean of a run">
                      {title}
                    </th>
                  ))}
                  <th className={css.number}>Errors</th>
                </tr>
              </thead>
              <tbody>
                {shown.map(({ id, name, latency, error_rate, run_count }) => {
                  const result = results?.find(({ experiment }) => experiment === id);
                  const of = focus?.results.find(({ experiment }) => experiment === id);
                  return (
                    <tr key={id} aria-current={id === candidate || undefined}>
                      <th scope="row" className={css.experiment}>
                        <span title={name}>
                          <Text>{name}</Text>
                        </span>
                        {!alone &&
                          (id === baseline ? (
                            <>
                              <span
                                className={css.base}
                                title={id === kept ? 'Lists show the differences from it' : undefined}
                              >
                                baseline{id === kept && <Unseen> of the dataset</Unseen>}
                              </span>
                              {kept !== undefined && id !== kept && (
                                <Action
                                  scope="write"
                                  kind="quiet"
                                  className={css.rebase}
                                  disabled={!onKeep}
                                  onClick={onKeep}
                                  title="Lists then show the differences from this experiment."
                                >
                                  make it the baseline of the dataset
                                </Action>
                              )}
                            </>
                          ) : (
                            <button type="button" className={css.rebase} onClick={() => onBaseline(id)}>
                              make baseline
                            </button>
                          ))}
                      </th>
                      <td className={css.number} data-label="Mean">
                        {figure(result?.mean)}
                        {of?.spread !== undefined && (
                          <span className={css.faint} title="Mean standard deviation of the runs of a row">
                            {' '}
                            ± {figure(of.spread)}
                          </span>
                        )}
                        {of && <span className={css.faint}>{scoredRuns(of.runs, run_count, of.scores)}</span>}
                      </td>
                      {!alone && (
                        <Difference
                          keyed={focus}
                          result={result}
                          span={span}
                          firm={focus !== undefined && surviving.has(nameOf(focus.key, id))}
                        />
                      )}
                      {!alone && (
                        <td className={css.accounting} data-label="Rows">
                          {of?.counts && focus ? (
                            <Bar
                              counts={of.counts}
                              chosen={filter}
                              filterOf={(kind) => `${id}:${kind}:${focus.key}`}
                              onChoose={onFilter}
                            />
                          ) : (
                            <span className={css.faint}>{whole(run_count)} runs</span>
                          )}
                        </td>
                      )}
                      <td className={`${css.number} ${css.rate}`}>{duration(latency.p50)}</td>
                      {used.map(({ title, results: all }) => (
                        <Used key={title} title={title} result={all.find(({ experiment }) => experiment === id)} />
                      ))}
                      <td className={`${css.number} ${css.rate}`}>{percent(error_rate)}</td>
                    </tr>
                  );
                })}
                {rest.length > 0 && (
                  <tr>
                    <td colSpan={8 + used.length} className={css.rest}>
                      <Button kind="quiet" onClick={() => setAll(true)}>
                        {whole(rest.length)} more, that differ less
                      </Button>
                      <Text>{rest.map(({ name }) => middle(name, 24)).join(', ')}</Text>
                    </td>
                  </tr>
                )}
              </tbody>
            </table>
          </div>
          <Further scroller={scroller} />
        </div>
      )}
    </section>
  );
}

/** The keys that stand beside each other: with many, those on which candidates differ clearly, and the one in focus. */
function foremost(keys: Comparison['keys'], focus: KeyComparison | undefined): Comparison['keys'] {
  if (keys.length <= MOST_KEYS) return keys;
  const isClear = ({ results }: KeyComparison) =>
    results.some(({ verdict }) => verdict !== undefined && verdict !== 'not clear');
  const first = [...keys.filter(isClear), ...keys.filter((key) => !isClear(key))].slice(0, MOST_FOREMOST);
  return keys.filter((key) => first.includes(key) || key.key === focus?.key);
}

/** The part of a key before its first `.`, `/` or `:`, by which the keys of one judge or metric stand together. */
function groupOf(key: string): string {
  return /^([^./:]+)[./:]/.exec(key)?.[1] ?? 'Others';
}

/** Numbers of candidates that are clearly better and clearly worse on a key. */
function Clear({ results }: { results: KeyComparison['results'] }) {
  return (['better', 'worse'] as const).map((verdict) => {
    const count = results.filter((result) => result.verdict === verdict).length;
    if (count === 0) return null;
    return (
      <span key={verdict} className={css[verdict]}>
        {' '}
        <Sign sign={MARKS[verdict]}>{`${verdict}: `}</Sign>
        {count}
      </span>
    );
  });
}

type Experiments = Comparison['experiments'];

/** The baseline, then the candidates that differ clearly, then the others, each the best first. */
function bestFirst(experiments: Experiments, focus: KeyComparison | undefined, baseline: string): Experiments {
  const higher = focus?.direction === 'higher is better';
  const rank = (id: string) => {
    const result = focus?.results.find(({ experiment }) => experiment === id);
    if (id === baseline) return [2, 0] as const;
    const gain = (result?.difference ?? 0) * (higher ? 1 : -1);
    return [result?.verdict !== undefined && result.verdict !== 'not clear' ? 1 : 0, gain] as const;
  };
  return experiments.toSorted((a, b) => {
    const [one, other] = [rank(a.id), rank(b.id)];
    return other[0] - one[0] || other[1] - one[1];
  });
}

/** Says which scores of a key are better. */
export function Better({ of }: { of: KeyComparison['direction'] }) {
  return (
    <span title={of}>
      <Sign sign={of === 'higher is better' ? '↑' : '↓'}>{of}</Sign>
    </span>
  );
}

/** Mean of a measure, with a mark where it clearly differs from the baseline. */
function Used({ title, result }: { title: string; result: Tested | undefined }) {
  const { verdict } = result ?? {};
  return (
    <td className={`${css.number} ${css.rate}`} data-label={title}>
      {figure(result?.mean)}
      {result && verdict !== undefined && verdict !== 'not clear' && (
        <span className={css[verdict]} title={verdictText(MEASURED, result)}>
          {' '}
          <Sign sign={MARKS[verdict]}>{verdict}</Sign>
        </span>
      )}
    </td>
  );
}

interface DifferenceProps {
  readonly keyed: KeyComparison | undefined;
  readonly result: Tested | undefined;
  readonly span: number;
  /** It also survives the correction for the number of tests. */
  readonly firm: boolean;
}

function Difference({ keyed, result, span, firm }: DifferenceProps) {
  if (!keyed || !result?.test || !result.verdict) return <td colSpan={2} className={css.none} />;
  const { verdict, test, difference: found } = result;
  const tone = { better: css.better, worse: css.worse, 'not clear': css.unclear }[verdict];
  return (
    <>
      <td className={css.verdict}>
        <span
          className={`${css.badge} ${tone} ${firm ? css.firm : ''}`}
          title={firm ? 'Clear also when the number of tests is considered' : undefined}
        >
          <span aria-hidden="true">{MARKS[verdict]}</span> {verdict}
          {firm && <Unseen>, also when the number of tests is considered</Unseen>}
        </span>{' '}
        <span className={css.words}>{verdictText(keyed, result).replace(/^(better|worse|not clear): /, '')}</span>
      </td>
      <td className={css.chart}>
        {test.interval && found !== null && found !== undefined && (
          <Interval
            low={test.interval.low}
            high={test.interval.high}
            value={found}
            span={span}
            clear={verdict !== 'not clear'}
            tone={tone!}
            label={verdictText(keyed, result)}
          />
        )}
      </td>
    </>
  );
}
