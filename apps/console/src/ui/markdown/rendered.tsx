import { Fragment, type ReactNode, useMemo } from 'react';
import { parseMarkdown, MOST_CHARACTERS, type Piece } from './markdown';
import { whole } from '../format';
import { LongText, Text } from '../parts';
import css from './rendered.module.css';

/** A text as the Markdown that it holds; as it is where that cannot be shown. */
export function Rendered({ text }: { text: string }) {
  const pieces = useMemo(() => parseMarkdown(text), [text]);
  if (!pieces) {
    return (
      <>
        <p className={css.note}>This text is nested too deep, or has too many parts, to be rendered.</p>
        <LongText>{text}</LongText>
      </>
    );
  }
  return (
    <div className={css.rendered}>
      <Pieces of={pieces} />
      {text.length > MOST_CHARACTERS && (
        <p className={css.note}>
          The first {whole(MOST_CHARACTERS)} of {whole(text.length)} characters; Raw shows all of them.
        </p>
      )}
    </div>
  );
}

function Pieces({ of }: { of: readonly Piece[] }) {
  return of.map((piece, place) => <Fragment key={place}>{shown(piece)}</Fragment>);
}

function shown(piece: Piece): ReactNode {
  switch (piece.kind) {
    case 'text':
      return <Text>{piece.text}</Text>;
    case 'code':
      return (
        <code>
          <Text>{piece.text}</Text>
        </code>
      );
    case 'block code':
      return (
        <pre tabIndex={0}>
          <Text>{piece.text}</Text>
        </pre>
      );
    case 'break':
      return <br />;
    case 'line':
      return <hr />;
    case 'strong':
    case 'em':
    case 'del': {
      const Tag = piece.kind;
      return (
        <Tag>
          <Pieces of={piece.pieces} />
        </Tag>
      );
    }
    case 'heading':
      // The page has its own headings, which lead through it.
      return (
        <p className={css.heading} data-depth={piece.depth}>
          <Pieces of={piece.pieces} />
        </p>
      );
    case 'paragraph':
      return (
        <p>
          <Pieces of={piece.pieces} />
        </p>
      );
    case 'quote':
      return (
        <blockquote>
          <Pieces of={piece.pieces} />
        </blockquote>
      );
    case 'list': {
      const List = piece.start === undefined ? 'ul' : 'ol';
      return (
        <List start={piece.start}>
          {piece.items.map((item, place) => (
            <li key={place}>
              <Pieces of={item} />
            </li>
          ))}
        </List>
      );
    }
    case 'table':
      return <Table rows={piece.rows} />;
  }
}

function Table({ rows: [head, ...rows] }: { rows: Extract<Piece, { kind: 'table' }>['rows'] }) {
  const cells = (row: typeof head, Cell: 'th' | 'td') => (
    <tr>
      {row!.map(({ align, pieces }, place) => (
        <Cell key={place} data-align={align ?? undefined}>
          <Pieces of={pieces} />
        </Cell>
      ))}
    </tr>
  );
  return (
    <div className={css.table} tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>{cells(head, 'th')}</thead>
        <tbody>
          {rows.map((row, place) => (
            <Fragment key={place}>{cells(row, 'td')}</Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}
