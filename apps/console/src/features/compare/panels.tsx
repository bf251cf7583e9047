import { type ReactNode, useEffect, useRef } from 'react';
import {
  headline,
  type Keyed,
  type Tested,
  uncompared,
  verdictText,
} from '../../../../../libs/evaluation/src/report/verdicts';
import type { Comparison } from '../../api/client';
import { duration, figure, middle, percent, probability, signed, whole } from '../../ui/format';
import { Section } from '../../ui/list';
import { Button, Sign, Text } from '../../ui/parts';
import css from './compare.module.css';
import { ScoreAgainstCost } from './cost';
import { scoreAgainstCost } from './cost-points';
import type { KeyComparison } from './data';
import { Better } from './head';

/** Panels that can stand beside the rows, in the order of their buttons. */
export const PANELS = ['statistics', 'slices', 'labels', 'changed', 'distribution', 'gate', 'warnings'] as const;
export type PanelName = (typeof PANELS)[number];

/** A panel beside the rows, which takes the focus when it opens. */
export function SidePanel({ name, onClose, children }: { name: string; onClose: () => void; children: ReactNode }) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <aside ref={panel} className={css.panel} aria-label={name} tabIndex={-1}>
      <Button kind="quiet" className={css.shut} onClick={onClose}>
        Close <kbd>Esc</kbd>
      </Button>
      {children}
    </aside>
  );
}

interface StatisticsProps {
  readonly comparison: Comparison;
  readonly focus: KeyComparison | undefined;
  /** All that is tested, labels too. */
  readonly compared: readonly Keyed[];
  readonly alarms: string;
}

/** The findings for each candidate, and the figures behind them. */
export function Statistics({ comparison, focus, compared, alarms }: StatisticsProps) {
  const { experiments, keys, categories, baseline } = comparison;
  const others = experiments.filter(({ id }) => id !== baseline);
  const results = focus?.results as readonly Tested[] | undefined;
  const costed = focus ? scoreAgainstCost(comparison, focus) : [];
  return (
    <>
      {others.length > 0 && (
        <Section title="Found">
          <p className={css.faint}>{alarms}</p>
          <ul className={css.findings}>
            {others.map(({ id, name }) => (
              <li key={id}>
                <b>
                  <Text title={name}>{middle(name, 40)}</Text>
                </b>{' '}
                {headline(keys, id, categories)}
                <Gap sentence={uncompared(compared, baseline, id)} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={focus ? <Text>{focus.key}</Text> : 'Latency'}>
        <div className={css.scroll} tabIndex={0} role="region" aria-label="Figures by experiment">
          <table className={css.matrix}>
            <thead>
              <tr>
                <th>Experiment</th>
                {others.length > 0 && <th>Difference, 95 % interval</th>}
                {others.length > 0 && <th className={css.number}>p, pairs</th>}
                <th className={css.number}>p50</th>
                <th className={css.number}>p99</th>
                <th className={css.number}>Errors</th>
              </tr>
            </thead>
            <tbody>
              {experiments.map(({ id, name, latency, error_rate }) => {
                const result = results?.find(({ experiment }) => experiment === id);
                return (
                  <tr key={id}>
                    <th scope="row">
                      <Text title={name}>{middle(name, 32)}</Text>
                    </th>
                    {others.length > 0 && <td>{focus && result?.test ? verdictText(focus, result) : ''}</td>}
                    {others.length > 0 && (
                      <td className={css.number}>
                        {result?.test && (
                          <>
                            {probability(result.test.p)} <span className={css.faint}>{whole(result.test.n)}</span>
                          </>
                        )}
                      </td>
                    )}
                    <td className={css.number}>{duration(latency.p50)}</td>
                    <td className={css.number}>{duration(latency.p99)}</td>
                    <td className={css.number}>{percent(error_rate)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </Section>
      {focus && costed.length > 0 && <ScoreAgainstCost of={costed} score={focus.key} />}
      {comparison.experiment_scores.length > 0 && <Whole comparison={comparison} />}
    </>
  );
}

/** Sentence about the rows that a verdict leaves out; nothing when there are none. */
function Gap({ sentence }: { sentence: string | undefined }) {
  if (sentence === undefined) return null;
  return (
    <span className={css.gap}>
      ; <Text>{sentence}</Text>
    </span>
  );
}

/** Scores of the experiments as a whole, with the difference from the baseline. */
function Whole({ comparison: { experiments, experiment_scores: scores } }: { comparison: Comparison }) {
  return (
    <div className={css.category} tabIndex={0} role="region" aria-label="Scores of the whole experiments">
      <table className={css.head}>
        <thead>
          <tr>
            <th>Whole experiment</th>
            {scores.map(({ key, direction, results }) => (
              <th key={key} className={css.number} title={key}>
                <Text>{middle(key, 24)}</Text>{' '}
                {results.some(({ value }) => value !== null) && <Better of={direction} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {experiments.map(({ id, name }, place) => (
            <tr key={id}>
              <th scope="row" className={css.experiment}>
                <span title={name}>
                  <Text>{name}</Text>
                </span>
              </th>
              {scores.map(({ key, direction, results }) => {
                const { value, values, scored, difference: found } = results[place]!;
                const better = (found ?? 0) > 0 === (direction === 'higher is better');
                return (
                  <td key={key} className={css.number} data-label={key}>
                    {value === null ? <Text>{Object.keys(values).join(', ') || '–'}</Text> : figure(value)}
                    {scored > 1 && <span className={css.faint}> (mean of {whole(scored)} scores)</span>}
                    {found === 0 && <span className={css.faint}> =</span>}
                    {Boolean(found) && (
                      <span className={better ? css.up : css.down}>
                        {' '}
                        <Sign sign={better ? '▲' : '▼'}>{better ? 'better' : 'worse'}</Sign> {signed(found)}
                      </span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The warnings of a comparison, under the experiments that they are about. */
export function Warnings({ comparison: { warnings, experiments } }: { comparison: Comparison }) {
  const groups = [...experiments.map(({ id }) => id), undefined].flatMap((id) => {
    const own = warnings.filter(({ experiment }) => experiment === id);
    return own.length > 0 ? [{ name: experiments.find((one) => one.id === id)?.name, own }] : [];
  });
  return (
    <Section title="Warnings">
      {groups.map(({ name, own }) => (
        <div key={name ?? ''}>
          <h3>{name === undefined ? 'All experiments' : <Text title={name}>{name}</Text>}</h3>
          <ul className={css.warnings}>
            {own.map(({ message }) => (
              <li key={message}>
                <Text>{message}</Text>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}
