import type { RowRuns } from '../row/row-runs.schema';
import type { OpenLink } from './share.queries';

/** The runs of a row without what a link hides, and without what leads to runs that it does not show. */
export function visibleRuns(row: RowRuns, hides: OpenLink['hides']): RowRuns {
  const noComment = hides.has('comments');
  const noCorrection = noComment || hides.has('reference_outputs') || hides.has('outputs');
  return {
    ...row,
    left_out: row.left_out && !hides.has('feedback'),
    experiments: row.experiments.map(({ runs, ...experiment }) => ({
      ...experiment,
      runs: runs.map(({ error_preview, outputs_preview, feedback, ...run }) => ({
        ...run,
        error_preview: hides.has('errors') ? null : error_preview,
        outputs_preview: hides.has('outputs') ? null : outputs_preview,
        feedback: (hides.has('feedback') ? [] : feedback).map((given) => ({
          ...given,
          comment_preview: noComment ? null : given.comment_preview,
          correction_preview: noCorrection ? null : given.correction_preview,
          judge: { type: given.judge.type, metadata: null, run_id: null, session_id: null },
        })),
      })),
    })),
  };
}
