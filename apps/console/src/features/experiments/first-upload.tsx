import { FIRST_UPLOAD } from '../../../../../libs/service/src/first-upload';
import { DemoOffer } from '../../ui/demo-offer';
import { Copy } from '../../ui/parts';
import css from './experiments.module.css';

/** The page of a workspace without experiments or datasets: a command that uploads both. The list replaces it then. */
export function FirstUpload({ none }: { none: 'experiment' | 'dataset' }) {
  const command = [
    `curl -sS ${window.location.origin}/api/v1/datasets/upload-experiment \\`,
    `  -H "x-api-key: $FAIRLEAD_KEY" -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(FIRST_UPLOAD)}'`,
  ].join('\n');
  return (
    <section className={css.first}>
      <h2>No {none} yet</h2>
      <p>
        Upload the rows of an evaluation that ran anywhere: inputs, outputs and scores.{' '}
        {none === 'dataset' && 'Their inputs and references become a dataset. '}This one has a single row; your key goes
        into <code>FAIRLEAD_KEY</code>.
      </p>
      <pre tabIndex={0}>{command}</pre>
      <div className={css.tools}>
        <Copy text={command}>Copy</Copy>
        <span role="status" className={css.waiting}>
          Waiting for it …
        </span>
      </div>
      <DemoOffer />
    </section>
  );
}
