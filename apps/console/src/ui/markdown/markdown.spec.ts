import { MOST_CHARACTERS, parseMarkdown, type Piece } from './markdown';

const text = (of: string): Piece => ({ kind: 'text', text: of });

/** All texts of the parts, joined. */
const textOf = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if ('text' in piece) return piece.text;
      if ('pieces' in piece) return textOf(piece.pieces);
      if (piece.kind === 'list') return piece.items.map(textOf).join();
      if (piece.kind === 'table') return piece.rows.map((row) => row.map((cell) => textOf(cell.pieces)).join()).join();
      return '';
    })
    .join('');

it('reads headings, emphasis, code, lists, quotes and tables', () => {
  expect(parseMarkdown('## A *b* and **c**\n\nOne `x`\n\n```js\ny\n```\n\n> q\n\n---')).toEqual([
    {
      kind: 'heading',
      depth: 2,
      pieces: [text('A '), { kind: 'em', pieces: [text('b')] }, text(' and '), { kind: 'strong', pieces: [text('c')] }],
    },
    { kind: 'paragraph', pieces: [text('One '), { kind: 'code', text: 'x' }] },
    { kind: 'block code', text: 'y' },
    { kind: 'quote', pieces: [{ kind: 'paragraph', pieces: [text('q')] }] },
    { kind: 'line' },
  ]);
  expect(parseMarkdown('3. a\n4. b\n   - [x] c')).toMatchObject([
    { kind: 'list', start: 3, items: [[text('a')], [text('b'), { kind: 'list', items: [[text('☑ '), text('c')]] }]] },
  ]);
  expect(parseMarkdown('|a|b|\n|-|-:|\n|1|**2**|')).toEqual([
    {
      kind: 'table',
      rows: [
        [
          { align: null, pieces: [text('a')] },
          { align: 'right', pieces: [text('b')] },
        ],
        [
          { align: null, pieces: [text('1')] },
          { align: 'right', pieces: [{ kind: 'strong', pieces: [text('2')] }] },
        ],
      ],
    },
  ]);
});

it('keeps markup, links and pictures as text', () => {
  const hostile =
    '<img src=x onerror=alert(1)> [go](javascript:alert(1)) ![x](http://a.example/x.png) <script>1</script>';
  const [paragraph] = parseMarkdown(hostile)!;
  expect(textOf([paragraph!])).toBe(
    '<img src=x onerror=alert(1)> go (javascript:alert(1)) picture x (http://a.example/x.png) <script>1</script>',
  );
  const kinds = (pieces: readonly Piece[]) => [...new Set(pieces.map(({ kind }) => kind))];
  expect(kinds((paragraph as unknown as { pieces: Piece[] }).pieces)).toEqual(['text']);
  expect(parseMarkdown('<div>\n\n**x**\n\n</div>')).toMatchObject([text('<div>'), {}, text('</div>')]);
  expect(parseMarkdown('https://a.example')).toMatchObject([{ pieces: [text('https://a.example')] }]);
});

const LONG = 1_000_000;
const filled = (part: string) => part.repeat(LONG / part.length);
const HOSTILE: Readonly<Record<string, string>> = {
  ...{
    brackets: filled('['),
    pictures: filled('!['),
    links: filled('[a]('),
    stars: filled('*'),
    open: filled('**a *b '),
  },
  ...{
    mixed: filled('*_'),
    closing: filled('a* b** '),
    ticks: filled('`a``b'),
    quotes: filled('>'),
    lists: filled('- '),
  },
  ...{ cells: filled('|'), rows: 'a|b\n-|-\n' + filled('x|y\n'), markup: filled('<a '), comments: filled('<!--') },
  ...{ entities: filled('&'), spaces: filled(' '), lines: filled('\n'), tabs: filled('\t'), headings: filled('# a\n') },
  ...{ underlined: filled('a\n=\n'), fences: filled('```\n'), numbers: filled('1. a\n'), lazy: filled('> a\nb\n') },
  nested: Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
};

// A parser that takes time without bound does not end within the limit of a test.
it.each(Object.entries(HOSTILE))('reads the beginning of a hostile text: %s', (_, hostile) => {
  const pieces = parseMarkdown(hostile);
  if (pieces) expect(textOf(pieces).length).toBeLessThanOrEqual(MOST_CHARACTERS * 2);
});

it('gives up what is nested too deep or has too many parts', () => {
  expect(parseMarkdown(HOSTILE.quotes!)).toBe(undefined);
  expect(parseMarkdown(HOSTILE.headings!)).toBe(undefined);
  expect(parseMarkdown('> '.repeat(30) + 'a')).toBe(undefined);
});
