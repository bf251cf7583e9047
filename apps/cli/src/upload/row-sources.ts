import { Usage } from '../failure';
import { AtPlace, Misplaced, type Place, rowName } from './import-report';
import { checkJson, partsOf } from './json-text';
import { columnsIn, filledKey, type Mapping, meant, type RowOptions, unknownColumn } from './mapping';
import { RowDraft } from './row-draft';
import { scorePart, type Target, targetOf } from './row-target';
import type { FileRow } from './upload-body';

/** The values of one row by their columns; `isJson` says whether they are JSON or the text of cells. */
interface Values {
  readonly values: ReadonlyMap<string, string>;
  readonly isJson: boolean;
  readonly row: number;
  readonly line: number;
}

/** Names of columns that usually hold milliseconds. */
const MILLISECONDS = /(?:[a-z]Ms|_ms|\bms|millis\w*)$/;
/** Names of members that a message offers. */
const MOST_NAMES = 1000;

/** Puts the values of rows where the names of their columns, or `--map`, say. */
export class RowSources {
  /** Columns and paths that some row has. */
  private readonly known = new Set<string>();
  private readonly found = new Set<string>();
  /** Keys of scores that columns and mappings name. */
  private readonly keys = new Set<string>();
  private readonly targets = new Map<string, Target | undefined>();
  private rows = 0;

  constructor(
    private readonly options: RowOptions,
    columns: readonly string[] = [],
  ) {
    for (const { target } of options.map) if (target.kind === 'score') this.keys.add(target.key);
    columns.forEach((column) => this.learn(column));
    for (const { source, target } of options.map) {
      if (target.kind !== 'latency' || target.perSecond !== 1 || !MILLISECONDS.test(source)) continue;
      options.report.note(`${source} was read as seconds: write --map ${source}=latency:ms for milliseconds.`);
    }
  }

  /** A row. @throws Usage naming its place */
  draftOf({ values, isJson, row, line }: Values): FileRow {
    this.rows++;
    const draft = new RowDraft(this.options, { row, line });
    const used = new Set<string>();
    for (const column of values.keys()) this.learn(column);
    const find = (source: string) => {
      const found = lookUp(values, isJson, source);
      if (found === undefined) return undefined;
      used.add(found.path);
      this.found.add(source);
      return found;
    };
    const at = (column: string, work: () => void) => placed({ row, line, column }, work);
    const map = ({ source, target }: Mapping) =>
      at(source, () => {
        const found = find(source);
        if (found === undefined) return;
        const own = this.resolved(target, (column) => this.keyPart(find(column), column, source));
        if (found.isJson) draft.put(own, found.value, source);
        else draft.putCell(own, found.value, source);
      });
    for (const [column, value] of values) {
      const target = this.targets.get(column);
      if (target) {
        used.add(column);
        at(column, () => (isJson ? draft.put(target, value, column) : draft.putCell(target, value, column)));
      } else this.options.map.filter(({ source }) => source === column).forEach(map);
    }
    this.options.map.filter(({ source }) => !values.has(source)).forEach(map);
    for (const [column, value] of values) this.reportUnused(column, value, isJson, used);
    return { draft, line };
  }

  /** @throws Usage for a column that `--map` names and no row had */
  finish(): void {
    if (this.rows > 0) this.requireColumns([...this.found]);
  }

  /** @throws Usage for a column that `--map` names and that is not among these, nor a path into one of them */
  requireColumns(columns: readonly string[], paths = false): void {
    const has = (source: string) =>
      columns.some((column) => source === column || (paths && source.startsWith(`${column}.`)));
    for (const { source, target } of this.options.map) {
      const wanted = [source, ...(target.kind === 'score' && target.isTemplate ? columnsIn(target.key) : [])];
      const missing = wanted.find((name) => !has(name));
      if (missing !== undefined)
        throw unknownColumn(
          missing,
          [...this.known].filter((name) => name !== ''),
        );
    }
  }

  /** The target with the columns of its key filled in, and as the part of a score that it is. */
  private resolved(target: Target, valueOf: (column: string) => string): Target {
    if (target.kind !== 'score') return target;
    const part = scorePart(target.key, this.keys);
    return { ...target, ...part, key: target.isTemplate ? filledKey(part.key, valueOf) : part.key };
  }

  /** The text of a value that is part of a key. @throws Misplaced */
  private keyPart(found: Found | undefined, column: string, source: string): string {
    const text = found?.isJson && found.value.startsWith('"') ? (JSON.parse(found.value) as string) : found?.value;
    if (text !== undefined && text.trim() !== '' && text !== 'null' && !/^[[{]/.test(text)) return text;
    const hint = found ? '' : meant(column, [...this.known]);
    throw new Misplaced(`the key of ${source} needs a text in ${column}.${hint}`);
  }

  private learn(column: string): void {
    if (this.targets.has(column)) return;
    const target = this.options.map.some(({ source }) => source === column) ? undefined : targetOf(column);
    if (target?.kind === 'score') this.keys.add(target.key);
    this.targets.set(column, target);
    this.known.add(column);
    if (target?.kind !== 'score') return;
    // A key that stood alone may have something beside it now.
    for (const [name, known] of this.targets) {
      if (known?.kind !== 'score') continue;
      const own = targetOf(name);
      if (own?.kind === 'score') this.targets.set(name, { ...own, ...scorePart(own.key, this.keys) });
    }
  }

  /** Tells of a value, or of the parts of it, that nothing has taken. */
  private reportUnused(path: string, value: string, isJson: boolean, used: ReadonlySet<string>): void {
    if (used.has(path) || (isJson ? value === 'null' : value === '')) return;
    const isTaken = [...used].some((one) => one.startsWith(`${path}.`));
    const parts = isTaken || isJson ? partsAt(value, isJson) : undefined;
    if (parts && this.known.size < MOST_NAMES) for (const name of parts.keys()) this.known.add(`${path}.${name}`);
    if (!isTaken) return this.options.report.leaveOut(path === '' ? 'a column without a name' : path);
    for (const [name, part] of parts ?? []) this.reportUnused(`${path}.${name}`, part, true, used);
  }
}

interface Found {
  readonly path: string;
  readonly value: string;
  readonly isJson: boolean;
}

/** A column of this name, or what is at the end of a path with dots that begins with a column. */
function lookUp(values: ReadonlyMap<string, string>, isJson: boolean, source: string): Found | undefined {
  const own = values.get(source);
  if (own !== undefined) return { path: source, value: own, isJson };
  for (let dot = source.lastIndexOf('.'); dot > 0; dot = source.lastIndexOf('.', dot - 1)) {
    const value = values.get(source.slice(0, dot));
    const parts = value === undefined ? undefined : partsAt(value, isJson);
    const found = parts && lookUp(parts, true, source.slice(dot + 1));
    if (found) return { ...found, path: source };
  }
  return undefined;
}

function partsAt(value: string, isJson: boolean): Map<string, string> | undefined {
  if (isJson) return partsOf(value);
  try {
    JSON.parse(value);
  } catch {
    return undefined;
  }
  checkJson(value);
  return partsOf(value);
}

/** @throws Usage naming the place */
function placed(place: Place, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof AtPlace) throw new Usage(said(error.place, error.message));
    if (error instanceof Misplaced) throw new Usage(said(place, error.message));
    throw error;
  }
}

function said(place: Place, message: string): string {
  return `${rowName(place)}, column ${place.column}: ${message}`;
}
