import { Link, useParams } from '@tanstack/react-router';
import { parseLossless } from '../../api/lossless';
import { duration, figure, signed } from '../../ui/format';
import { LongText, Sign, Text, Time } from '../../ui/parts';
import css from './compare.module.css';
import type { Given, KeyComparison, RowRun } from './data';
import { leafText, leaves } from '../../ui/values/readable';
import { Readable } from '../../ui/values/values';

export const KINDS = { app: 'a person', api: 'a program', model: 'a model', auto_eval: 'an evaluator' } as const;

interface FeedbackProps {
  readonly given: readonly Given[];
  readonly keys: readonly KeyComparison[];
  /** Scores of the baseline by the places of `keys`; undefined where there is nothing to compare with. */
  readonly before?: readonly (number | null)[];
}

/** Feedback on one run: each score with its difference, comment, correction and judge. */
export function Feedback({ given, keys, before }: FeedbackProps) {
  const order = (key: string) => keys.findIndex((one) => one.key === key) >>> 0;
  const sorted = [...given].sort((a, b) => order(a.key) - order(b.key));
  if (sorted.length === 0) return <p className={css.faint}>No feedback on this run.</p>;
  return (
    <ul className={css.feedback}>
      {sorted.map((one) => {
        const place = keys.findIndex(({ key }) => key === one.key);
        return (
          <li key={one.id}>
            <p className={css.marks}>
              <b>
                <Text>{one.key}</Text>
              </b>
              {one.score !== null && figure(one.score)}
              {one.value_preview !== null && <Text>{one.value_preview}</Text>}
              {place >= 0 && <Change score={one.score} before={before?.[place]} keyed={keys[place]!} />}
              <Judge judge={one.judge} at={one.created_at} />
            </p>
            {one.comment_preview !== null && (
              <p className={css.comment}>
                <LongText>{one.comment_preview}</LongText>
              </p>
            )}
            {one.correction_preview !== null && (
              <div className={css.correction}>
                <span className={css.faint}>Should have been</span>
                <Readable value={parsed(one.correction_preview)} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** A correction: JSON where it was sent as that. */
function parsed(text: string): unknown {
  if (!text.startsWith('{')) return text;
  try {
    return parseLossless(text);
  } catch {
    return text;
  }
}

interface ChangeProps {
  readonly score: number | null;
  readonly before: number | null | undefined;
  readonly keyed: KeyComparison;
}

/** The difference of a score from that of the baseline. */
export function Change({ score, before, keyed: { direction } }: ChangeProps) {
  if (score === null || before === null || before === undefined) return null;
  const change = score - before;
  if (change === 0) return <span className={css.faint}>=</span>;
  const better = change > 0 === (direction === 'higher is better');
  return (
    <span className={better ? css.up : css.down}>
      <Sign sign={better ? '▲' : '▼'}>{better ? 'better' : 'worse'}</Sign> {signed(change)}
    </span>
  );
}

/** The source of feedback, with what is known of it, and the run in which it was given. */
function Judge({ judge: { type, metadata, run_id, session_id }, at }: { judge: Given['judge']; at: string }) {
  const { w } = useParams({ strict: false });
  const facts = leaves(metadata ?? {})
    .filter(({ path }) => path !== '' && !path.startsWith('__'))
    .slice(0, 4);
  return (
    <span className={css.faint}>
      by {KINDS[type]}
      {facts.length > 0 && (
        <>
          {' '}
          (<Text>{facts.map(({ path, value }) => `${path} ${leafText(value)}`).join(', ')}</Text>)
        </>
      )}
      {run_id !== null && session_id !== null && w !== undefined && (
        <>
          {' · '}
          <Link to="/o/$w/projects/p/$session/r/$run" params={{ w, session: session_id, run: run_id }}>
            its run
          </Link>
        </>
      )}
      {run_id !== null && session_id === null && <span title={run_id}> · its run is not stored here</span>}
      {' · '}
      <Time at={at} />
    </span>
  );
}

interface RepetitionsProps {
  readonly runs: readonly RowRun[];
  /** Number of the runs, of which `runs` may be the first ones. */
  readonly count: number;
  readonly keys: readonly KeyComparison[];
  /** Place of the run that is shown. */
  readonly shown: number;
  readonly onShow: (place: number) => void;
}

/** The repetitions of a row one by one, with the spread of their scores. */
export function Repetitions({ runs, count, keys, shown, onShow }: RepetitionsProps) {
  const scores = keys.map(({ key }) => runs.map(({ feedback }) => meanOf(feedback, key)));
  return (
    <div className={css.scroll} tabIndex={0} role="region" aria-label="Repetitions">
      <table className={css.matrix}>
        <thead>
          <tr>
            <th>{count > runs.length ? `The first ${runs.length} of ${count} runs` : `${count} runs`}</th>
            {keys.map(({ key }) => (
              <th key={key} className={css.number}>
                <Text>{key}</Text>
              </th>
            ))}
            <th className={css.number}>Time</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, place) => (
            <tr key={run.run_id} aria-current={place === shown || undefined}>
              <th scope="row">
                <button type="button" className={css.open} aria-pressed={place === shown} onClick={() => onShow(place)}>
                  Run {place + 1}
                </button>
                {run.status === 'error' && <span className={css.failure}> errored</span>}
              </th>
              {scores.map((of, at) => (
                <td key={keys[at]!.key} className={css.number}>
                  {figure(of[place])}
                </td>
              ))}
              <td className={css.number}>{duration(run.latency_seconds)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Mean ± spread</th>
            {scores.map((of, at) => (
              <td key={keys[at]!.key} className={css.number}>
                {spreadOf(of)}
              </td>
            ))}
            <td />
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** Mean of the scores that a run has of a key; null without any. */
function meanOf(feedback: readonly Given[], key: string): number | null {
  const scores = feedback.flatMap((one) => (one.key === key && one.score !== null ? [one.score] : []));
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function spreadOf(scores: readonly (number | null)[]): string {
  const known = scores.filter((score) => score !== null);
  if (known.length === 0) return '–';
  const mean = known.reduce((sum, score) => sum + score, 0) / known.length;
  if (known.length === 1) return figure(mean);
  const squares = known.reduce((sum, score) => sum + (score - mean) ** 2, 0);
  const spread = Math.sqrt(squares / (known.length - 1));
  // What remains of equal scores is the rounding of their mean.
  return `${figure(mean)} ± ${figure(spread > Math.abs(mean) * 1e-12 ? spread : 0)}`;
}
