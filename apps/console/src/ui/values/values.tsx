import { Fragment } from 'react';
import { printLossless } from '../../api/lossless';
import { MarkdownText } from '../markdown/markdown-text';
import { Copy, Text } from '../parts';
import css from './values.module.css';
import { besideTurns, leafText, leaves, turnsOf } from './readable';

/** Values under their names; one that is undefined is not shown. What is copied is JSON as it was uploaded. */
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
            <div className={css.readable} tabIndex={0} role="group" aria-label={name}>
              <Readable value={value} />
            </div>
          </details>
        );
      })}
    </>
  );
}

/** A value as people read it: text as text, a conversation by its turns, other JSON by path. */
export function Readable({ value }: { value: unknown }) {
  const turns = turnsOf(value);
  if (turns) {
    const others = besideTurns(value);
    return (
      <>
        {turns.map(({ role, text }, place) => (
          <div key={place} className={css.turn} data-role={role}>
            <b>{role}</b>
            <MarkdownText>{text}</MarkdownText>
          </div>
        ))}
        {others && <Readable value={others} />}
      </>
    );
  }
  const found = leaves(value);
  const [only] = found;
  if (found.length === 1 && !only!.path.includes('.')) return <MarkdownText>{leafText(only!.value)}</MarkdownText>;
  return (
    <dl className={css.leaves}>
      {found.map(({ path, value: leaf }) => (
        <Fragment key={path}>
          <dt>
            <Text>{path}</Text>
          </dt>
          <dd>
            <MarkdownText>{leafText(leaf)}</MarkdownText>
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
