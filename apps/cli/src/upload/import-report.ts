import { counted } from '../output/text';

/** A row of a file, as messages name it. */
export interface Place {
  /** From 1. */
  readonly row: number;
  readonly line: number;
  readonly column: string;
}

/** A value that the file's row cannot take. */
export class Misplaced extends Error {}

/** Names that are listed; more are counted. */
const SHOWN = 20;

interface Seen {
  readonly place: Place;
  readonly shown: string;
}

/** Counts of values in a file that are not in the experiment, and the kinds of values that each key has. */
export class ImportReport {
  private readonly columns = new Map<string, number>();
  private readonly unscored = new Map<string, Map<string, number>>();
  private readonly kinds = new Map<string, { number?: Seen; text?: Seen }>();
  private readonly notes: string[] = [];
  private noted = 0;

  /** A value of a column or member goes nowhere. */
  leaveOut(column: string): void {
    this.columns.set(column, (this.columns.get(column) ?? 0) + 1);
  }

  /** A text stands for no score of a key. */
  leaveUnscored(key: string, text: string): void {
    const texts = this.unscored.get(key) ?? new Map<string, number>();
    this.unscored.set(key, texts.set(text, (texts.get(text) ?? 0) + 1));
  }

  /** Something that a user has to know although nothing is missing. */
  note(text: string): void {
    if (++this.noted <= SHOWN) this.notes.push(text);
  }

  /** A key has numbers or texts. @throws Misplaced at the place of the text when it has both */
  addKind(key: string, kind: 'number' | 'text', seen: Seen): void {
    const known = this.kinds.get(key) ?? {};
    known[kind] ??= seen;
    this.kinds.set(key, known);
    const { number, text } = known;
    if (!number || !text) return;
    throw new AtPlace(
      text.place,
      `${text.shown} is no number, but ${rowName(number.place)} has ${number.shown}. Mend the file, or keep all scores of ${key} as text with --text-scores ${key}.`,
    );
  }

  get isEmpty(): boolean {
    return this.columns.size === 0 && this.unscored.size === 0 && this.noted === 0;
  }

  /** Everything as sentences. */
  lines(): string[] {
    const columns = [...this.columns].map(([name, values]) => `${name} (${counted(values, 'value')})`);
    const unscored = [...this.unscored].map(([key, texts]) => {
      const said = [...texts].map(([text, count]) => `${count} × ${text === '' ? 'empty' : text}`);
      return `${key} (${listed(said)})`;
    });
    return [
      ...(columns.length > 0
        ? [`These columns were left out, because no place of a row has their name: ${listed(columns)}. See --map.`]
        : []),
      ...(unscored.length > 0 ? [`These values are no scores: ${listed(unscored)}.`] : []),
      ...this.notes,
      ...(this.noted > SHOWN ? [`… and ${this.noted - SHOWN} more of the same kind.`] : []),
    ];
  }

  /** Everything as members of an answer. */
  json(): object {
    const unscored = [...this.unscored].map(([key, texts]) => [key, Object.fromEntries(texts)] as const);
    return { columns: Object.fromEntries(this.columns), scores: Object.fromEntries(unscored), warnings: this.notes };
  }
}

/** A mistake of a row that may not be the one that is being read. */
export class AtPlace extends Error {
  constructor(
    readonly place: Place,
    message: string,
  ) {
    super(message);
  }
}

/** The row with its line. */
export function rowName({ row, line }: Pick<Place, 'row' | 'line'>): string {
  return `row ${row} (line ${line})`;
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ');
}
