import { printLossless } from '../../api/lossless';
import { Copy, Text } from '../../ui/parts';
import css from './runs.module.css';

/** What went into a run, what came out, and why it failed. */
export function RunParts({ run }: { run: Readonly<Record<string, unknown>> }) {
  return (
    <div className={css.parts}>
      {typeof run.error === 'string' && <Part title="Error" text={run.error} />}
      <Part title="Input" text={printLossless(run.inputs ?? null)} />
      <Part title="Output" text={printLossless(run.outputs ?? null)} />
      {run.extra != null && <Part title="Metadata" text={printLossless(run.extra)} />}
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
        <Text>{text}</Text>
      </pre>
    </section>
  );
}
