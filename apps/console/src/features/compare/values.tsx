import { printLossless } from '../../api/lossless';
import { Copy, LongText } from '../../ui/parts';
import css from './compare.module.css';

/** JSON values under their names, as they were uploaded; one that is undefined is not shown. */
export function Values({ values }: { values: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.entries(values).map(([name, value]) => {
        if (value === undefined) return null;
        const text = typeof value === 'string' ? value : printLossless(value);
        return (
          <details key={name} className={css.value} open={name !== 'Metadata'}>
            <summary>{name}</summary>
            <div className={css.copy}>
              <Copy kind="quiet" text={text}>
                Copy
              </Copy>
            </div>
            <pre tabIndex={0}>
              <LongText>{text}</LongText>
            </pre>
          </details>
        );
      })}
    </>
  );
}
