import type { Session } from '../../api/client';
import { figure, labelCounts, plain, scoredRuns, whole } from '../../ui/format';
import { Text } from '../../ui/parts';
import { halfWidth } from './data';
import css from './experiments.module.css';

/** Labels that a cell names. */
const MOST_LABELS = 2;

type Statistics = NonNullable<Session['feedback_stats']>[string];

/** The mean of a score and half the width of its interval, and how often labels were given. */
export function Mean({ statistics, runs }: { statistics?: Statistics; runs: number | null }) {
  if (!statistics) return <span className={css.faint}>–</span>;
  const { n, avg, values } = statistics;
  const { scores = avg === null ? 0 : n, scored = scores } = statistics;
  const [labels, all] = [MOST_LABELS, Infinity].map((most) => labelCounts(values, n - scores, most));
  const half = halfWidth(statistics);
  return (
    <>
      {avg !== null && (
        <span
          title={`Mean and half the width of its 95 % interval${runs === null ? '' : `, of ${whole(scored)} of ${whole(runs)} runs`}`}
        >
          {figure(avg)}
          {half !== undefined && <span className={css.faint}> ±{half.toPrecision(1)}</span>}
          {runs !== null && <span className={css.faint}>{scoredRuns(scored, runs, scores)}</span>}{' '}
        </span>
      )}
      {labels !== '' && (
        <span title={plain(all!)}>
          <Text>{runs === null ? Object.keys(values).join(', ') : labels!}</Text>
        </span>
      )}
      {avg === null && labels === '' && <span className={css.faint}>–</span>}
    </>
  );
}
