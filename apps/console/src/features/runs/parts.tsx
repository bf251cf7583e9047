import { printLossless } from '../../api/lossless';
import { Copy, LongText } from '../../ui/parts';
import css from './runs.module.css';

/** Input, output and error of a run; parts that it has no member for are left out. */
export function RunParts({ run }: { run: Readonly<Record<string, unknown>> }) {
  const metadata = run.extra ?? run.metadata;
  return (
    <div className={css.parts}>
      {Array.isArray(run.left_out) && (
        <p role="note">
          Too large to be stored, and left out: <code>{run.left_out.join(', ')}</code>.
        </p>
      )}
      {typeof run.error === 'string' && <Part title="Error" text={run.error} />}
      {run.inputs !== undefined && <Part title="Input" text={printLossless(run.inputs)} />}
      {run.outputs !== undefined && <Part title="Output" text={printLossless(run.outputs)} />}
      {run.reference_outputs != null && <Part title="Reference" text={printLossless(run.reference_outputs)} />}
      {Array.isArray(run.feedback) && run.feedback.length > 0 && (
        <Part title="Feedback" text={printLossless(run.feedback)} />
      )}
      {metadata != null && <Part title="Metadata" text={printLossless(metadata)} />}
    </div>
  );
}

function Part({ title, text }: { title: string; text: string }) {
  return (
    <section className={css.part}>
      <header>
        <h2>{title}</h2>
        <Copy kind="quiet" text={text}>
          Copy
        </Copy>
      </header>
      <pre tabIndex={0}>
        <LongText>{text}</LongText>
      </pre>
    </section>
  );
}
