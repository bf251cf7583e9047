import { StringDecoder } from 'node:string_decoder';
import { Usage } from '../failure';
import { Misplaced, rowName } from './import-report';
import { checkJson, partsOf } from './json-text';
import type { RowOptions } from './mapping';
import { RowSources } from './row-sources';
import type { FileRow } from './upload-body';

const LONGEST_ROW = 256 * 1024 * 1024;

interface Piece {
  readonly text: string;
  readonly line: number;
}

/** Rows of JSON Lines, one object a line, or of one JSON array of objects. @throws Usage naming row and line */
export async function* jsonRows(source: AsyncIterable<Buffer>, options: RowOptions): AsyncGenerator<FileRow> {
  const sources = new RowSources(options);
  let row = 0;
  for await (const { text, line } of pieces(source)) {
    const place = { row: ++row, line };
    try {
      checkJson(text);
    } catch (error) {
      if (!(error instanceof Misplaced)) throw error;
      throw new Usage(`${rowName(place)}: ${error.message}`);
    }
    const values = text.startsWith('{') ? partsOf(text) : undefined;
    if (!values) throw new Usage(`${rowName(place)}: it is not a JSON object.`);
    yield sources.draftOf({ values, isJson: true, ...place });
  }
  sources.finish();
}

/** The texts of the lines that are not blank, or of the elements of an array when the first character opens one. */
async function* pieces(source: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  const decoder = new StringDecoder('utf8');
  let splitter: Lines | Elements | undefined;
  let beginning = '';
  for await (const chunk of source) {
    const text = decoder.write(chunk);
    if (!splitter) {
      beginning += text;
      const first = /[^\s\ufeff]/.exec(beginning)?.[0];
      if (first === undefined) continue;
      splitter = first === '[' ? new Elements() : new Lines();
      yield* splitter.add(beginning.replace(/^\ufeff/, ''));
    } else yield* splitter.add(text);
    if (splitter.held > LONGEST_ROW) {
      throw new Usage(`line ${splitter.line}: the row is longer than ${LONGEST_ROW} characters.`);
    }
  }
  if (splitter) yield* splitter.end();
}

/** Lines of a text that comes in parts. */
class Lines {
  line = 1;
  held = 0;
  private parts: string[] = [];

  *add(text: string): Generator<Piece> {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield* this.take(text.slice(start, end));
      this.line++;
      start = end + 1;
    }
    this.parts.push(text.slice(start));
    this.held += text.length - start;
  }

  *end(): Generator<Piece> {
    yield* this.take('');
  }

  private *take(last: string): Generator<Piece> {
    const text = [...this.parts, last].join('').trim();
    this.parts = [];
    this.held = 0;
    if (text !== '') yield { text, line: this.line };
  }
}

/** Elements of an array that comes in parts. */
class Elements {
  line = 1;
  private text = '';
  private at = 0;
  private start = 0;
  private startLine = 0;
  private depth = 0;
  private isString = false;
  private isOver = false;
  private count = 0;

  get held(): number {
    return this.text.length;
  }

  *add(text: string): Generator<Piece> {
    this.text += text;
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at]!;
      if (character === '\n') this.line++;
      if (this.isString) {
        if (character === '\\') {
          // What is escaped may not have come yet.
          if (this.at + 1 === this.text.length) break;
          this.at++;
        } else if (character === '"') this.isString = false;
        continue;
      }
      if (this.startLine === 0 && this.depth === 1 && /[^\s,\]]/.test(character)) {
        this.start = this.at;
        this.startLine = this.line;
      }
      if (this.isOver && /\S/.test(character)) {
        throw new Usage(`line ${this.line}: there is text after the end of the array.`);
      }
      if (character === '"') this.isString = true;
      else if (character === '[' || character === '{') this.depth++;
      else if (character === ']' || character === '}') this.depth--;
      const isEnd = this.depth === 0 && character === ']';
      if (isEnd || (this.depth === 1 && character === ',')) yield* this.take(isEnd);
    }
    if (this.startLine === 0) this.drop(this.at);
  }

  end(): Piece[] {
    if (this.isOver) return [];
    throw new Usage(`line ${this.line}: the array is not closed. Expected ] at its end.`);
  }

  private *take(isEnd: boolean): Generator<Piece> {
    if (this.startLine > 0) {
      this.count++;
      yield { text: this.text.slice(this.start, this.at).trim(), line: this.startLine };
    } else if (!isEnd || this.count > 0) {
      throw new Usage(`line ${this.line}: there is a comma without a row ${isEnd ? 'behind' : 'before'} it.`);
    }
    this.isOver = isEnd;
    this.startLine = 0;
    this.drop(this.at);
  }

  private drop(characters: number): void {
    this.text = this.text.slice(characters);
    this.at -= characters;
  }
}
