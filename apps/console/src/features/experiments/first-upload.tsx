import { FIRST_UPLOAD } from '../../../../../libs/service/src/first-upload';
import { DemoOffer } from '../../ui/demo-offer';
import { Copy } from '../../ui/parts';
import css from './experiments.module.css';

/** The page of a workspace without experiments: a command that uploads one. The list replaces it when one is there. */
export function FirstUpload() {
  const command = [
    `curl -sS ${window.location.origin}/api/v1/datasets/upload-experiment \\`,
    `  -H "x-api-key: $FAIRLEAD_KEY" -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(FIRST_UPLOAD)}'`,
  ].join('\n');
  return (
    <section className={css.first}>
      <h2>No experiment yet</h2>
      <p>
        Upload the rows of an evaluation that ran anywhere: inputs, outputs and scores. This one has a single row; your
        key goes into <code>FAIRLEAD_KEY</code>.
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
