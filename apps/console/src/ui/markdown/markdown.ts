import { Lexer, type Token, type Tokens } from 'marked';

/** A part of a text in Markdown. It has no addresses to load or to open, and no markup. */
export type Piece =
  | { readonly kind: 'text' | 'code' | 'block code'; readonly text: string }
  | { readonly kind: 'break' | 'line' }
  | { readonly kind: 'strong' | 'em' | 'del' | 'paragraph' | 'quote'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'heading'; readonly depth: number; readonly pieces: readonly Piece[] }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Piece[])[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly TableCell[])[] };

interface TableCell {
  readonly align: 'left' | 'center' | 'right' | null;
  readonly pieces: readonly Piece[];
}

/** Characters of a text that are read: some Markdown takes time that grows with the square of its length. */
export const MOST_CHARACTERS = 40_000;
const MOST_PIECES = 5000;
const MOST_DEPTH = 24;

/** The parts of a text in Markdown, of its first 40,000 characters; undefined when it has too many, or too deep ones. */
export function parseMarkdown(text: string): Piece[] | undefined {
  try {
    return new Reading().pieces(new Lexer({ gfm: true }).lex(text.slice(0, MOST_CHARACTERS)), 0);
  } catch (error) {
    // Quotes and lists that are nested without end use up the stack of the parser.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Reading {
  private count = 0;

  pieces(tokens: readonly Token[], depth: number): Piece[] {
    if (depth > MOST_DEPTH) throw new RangeError('Too deep.');
    return tokens.flatMap((token) => {
      if (++this.count > MOST_PIECES) throw new RangeError('Too many parts.');
      return this.piece(token as Tokens.Generic, depth + 1);
    });
  }

  private piece(token: Tokens.Generic, depth: number): Piece | Piece[] {
    const inner = () => this.pieces(token.tokens ?? [], depth);
    switch (token.type) {
      case 'space':
        return [];
      case 'heading':
        return { kind: 'heading', depth: token.depth as number, pieces: inner() };
      case 'paragraph':
        return { kind: 'paragraph', pieces: inner() };
      case 'blockquote':
        return { kind: 'quote', pieces: inner() };
      case 'strong':
      case 'em':
      case 'del':
        return { kind: token.type, pieces: inner() };
      case 'code':
        return { kind: 'block code', text: token.text as string };
      case 'codespan':
        return { kind: 'code', text: token.text as string };
      case 'br':
        return { kind: 'break' };
      case 'hr':
        return { kind: 'line' };
      case 'list':
        return this.list(token as unknown as Tokens.List, depth);
      case 'table':
        return this.table(token as unknown as Tokens.Table, depth);
      case 'checkbox':
        return { kind: 'text', text: token.checked ? '☑ ' : '☐ ' };
      case 'link':
        return address(inner(), token as unknown as Tokens.Link);
      case 'image':
        return address([{ kind: 'text', text: `picture ${token.text as string}`.trimEnd() }], token as never);
      case 'text':
      case 'escape':
        return token.tokens ? inner() : { kind: 'text', text: token.text as string };
      default:
        // Markup and whatever else the parser knows stay as they were written.
        return { kind: 'text', text: token.raw.trimEnd() };
    }
  }

  private list({ ordered, start, items }: Tokens.List, depth: number): Piece {
    return {
      kind: 'list',
      start: ordered ? Number(start) : undefined,
      items: items.map(({ tokens }) => this.pieces(tokens, depth)),
    };
  }

  private table({ header, rows }: Tokens.Table, depth: number): Piece {
    const cells = [header, ...rows].map((row) =>
      row.map(({ tokens, align }) => ({ align, pieces: this.pieces(tokens, depth) })),
    );
    this.count += cells.flat().length;
    return { kind: 'table', rows: cells };
  }
}

/** The words of a link or a picture, with its address as text where that says more. */
function address(words: Piece[], { href, text }: Tokens.Link | Tokens.Image): Piece[] {
  return href === '' || href === text ? words : [...words, { kind: 'text', text: ` (${href})` }];
}
