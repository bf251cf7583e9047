import { AtPlace, Misplaced, type Place } from './import-report';
import { checkJson, hasWords, partsOf } from './json-text';
import type { RowOptions } from './mapping';
import { type ObjectMember, type ScoreMember, scorePart, type Target, type TextMember } from './row-target';
import { numberText, scoreText } from './score-text';

/** JSON text, or an object whose members are added one by one. */
type Tree = Map<string, Tree | string>;

/** Members of a score as JSON. */
type Score = Map<string, string>;

const COMMENTS = new Set(['comment', 'reason']);
const OF_SCORE = new Set(['score', 'value', ...COMMENTS]);
/** Members of the list that the API takes. */
const OF_FEEDBACK = new Set([
  ...OF_SCORE,
  ...['key', 'correction', 'feedback_source', 'feedback_config', 'created_at', 'modified_at', 'extra'],
]);

/** A row of an upload in the making; every value is JSON text, kept as it was written. */
export class RowDraft {
  readonly texts = new Map<TextMember, string>();
  /** Seconds. */
  latency: number | undefined;
  private readonly objects = new Map<ObjectMember, Tree | string>();
  private readonly scores = new Map<string, Score>();

  constructor(
    private readonly options: RowOptions,
    private readonly row: Omit<Place, 'column'>,
  ) {}

  /** Takes what a cell of CSV holds; an empty one is no value. @throws Misplaced */
  putCell(target: Target, cell: string, column: string): void {
    if (target.kind === 'score') return this.putScoreCell(target.key, target.member, cell, column);
    if (cell === '') return;
    if (target.kind === 'object' ? target.json : target.kind === 'scores') this.put(target, checked(cell), column);
    else if (target.kind === 'latency') this.putLatency(cell.trim(), target.perSecond);
    else this.put(target, JSON.stringify(cell), column);
  }

  /** Takes a value that is JSON text; null is no value, but stays a member within an object. @throws Misplaced */
  put(target: Target, json: string, column: string): void {
    if (target.kind === 'score') return this.putScore(target.key, target.member, json, column);
    if (target.kind === 'object') return this.putObject(target.member, target.path, json);
    if (json === 'null') return;
    if (target.kind === 'scores') return this.putScores(json, column);
    if (hasWords(json)) throw new Misplaced(`${json} is no JSON.`);
    if (target.kind === 'latency') return this.putLatency(json.startsWith('"') ? parsed(json) : json, target.perSecond);
    if (this.texts.has(target.member)) throw new Misplaced(`${target.member} comes twice.`);
    this.texts.set(target.member, json);
  }

  /** An object member as JSON; undefined when nothing was put there. */
  object(member: ObjectMember): string | undefined {
    const value = this.objects.get(member);
    return value === undefined ? undefined : textOf(value);
  }

  /** Members of the row apart from those that `texts` and `latency` hold, as JSON members. */
  members(): string[] {
    const members = [...this.objects].map(([name, value]) => `"${name}":${textOf(value)}`);
    const scores = [...this.scores].filter(([, score]) => score.size > 0);
    if (scores.length === 0) return members;
    const written = scores.map(([key, score]) => textOf(new Map([['key', JSON.stringify(key)], ...score])));
    return [...members, `"evaluation_scores":[${written.join(',')}]`];
  }

  private putLatency(text: string, perSecond: number): void {
    const latency = Number(numberText(text, this.options.decimal)) / perSecond;
    if (!Number.isFinite(latency) || latency < 0) {
      const hint = /,/.test(text) && this.options.decimal === '.' ? ' Add --decimal , for decimal commas.' : '';
      throw new Misplaced(`latency is ${text}: it must be a number that is not negative.${hint}`);
    }
    if (this.latency !== undefined) throw new Misplaced('latency comes twice.');
    this.latency = latency;
  }

  private putObject(member: ObjectMember, path: readonly string[], json: string): void {
    if (path.length === 0 && json === 'null') return;
    if (hasWords(json)) throw new Misplaced('NaN and infinities are no JSON: write null or text.');
    const last = path.at(-1);
    const name = [member, ...path].join('.');
    if (last === undefined) {
      const known = this.objects.get(member);
      if (known !== undefined) throw twice(member, known);
      this.objects.set(member, json);
      return;
    }
    let tree = this.objects.get(member) ?? new Map<string, Tree | string>();
    this.objects.set(member, tree);
    for (const part of path.slice(0, -1)) {
      if (typeof tree === 'string') break;
      const next: Tree | string = tree.get(part) ?? new Map<string, Tree | string>();
      tree.set(part, next);
      tree = next;
    }
    if (typeof tree === 'string') throw new Misplaced(`${name} is given both as a whole and in parts.`);
    const known = tree.get(last);
    if (known !== undefined) throw twice(name, known);
    tree.set(last, json);
  }

  private putScoreCell(key: string, member: ScoreMember, cell: string, column: string): void {
    if (member !== 'comment' && /^\s*\{/.test(cell)) {
      try {
        checkJson(cell);
      } catch {
        return this.putScore(key, member, JSON.stringify(cell), column);
      }
      return this.putScore(key, member, cell.trim(), column);
    }
    this.putScore(key, member, JSON.stringify(cell), column);
  }

  /** Takes a score, a text in its place, or an object of a score and what stands beside it. */
  private putScore(key: string, member: ScoreMember, json: string, column: string): void {
    if (member === 'comment') {
      if (json !== 'null' && json !== '""') this.setOf(key, 'comment', json);
      return;
    }
    if (json.startsWith('[')) throw new Misplaced(`the score ${key} is a list.`);
    if (json.startsWith('{')) {
      const parts = partsOf(json)!;
      const other = [...parts.keys()].find((name) => !OF_SCORE.has(name));
      if (other !== undefined) {
        throw new Misplaced(`the score ${key} has a member ${other}; there are score, value, comment and reason.`);
      }
      return this.putParts(key, parts, column);
    }
    this.putValue(key, member, json, column);
  }

  private putParts(key: string, parts: ReadonlyMap<string, string>, column: string): void {
    if (!this.scores.has(key)) this.scores.set(key, new Map());
    const { score = 'null', value = 'null' } = Object.fromEntries(parts);
    if (score !== 'null' || value === 'null') this.putValue(key, 'score', score, column);
    if (value !== 'null') this.putValue(key, 'value', value, column);
    for (const name of COMMENTS) {
      const text = parts.get(name);
      if (text !== undefined && text !== 'null' && text !== '""') this.setOf(key, 'comment', text);
    }
  }

  private putValue(key: string, member: ScoreMember, json: string, column: string): void {
    const { report, textScores, decimal } = this.options;
    if (member === 'value' && /^[[{]/.test(json)) return this.setOf(key, 'value', json);
    const isText = json.startsWith('"');
    const text = isText ? parsed(json) : json;
    if (textScores.has(key)) {
      if (text === '' || json === 'null') return report.leaveUnscored(key, text);
      return this.setOf(key, 'value', isText ? json : JSON.stringify(json));
    }
    const read = scoreText(text, isText ? decimal : '.');
    if (read.kind === 'none') return report.leaveUnscored(key, text.trim());
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    if (read.kind === 'refused') {
      const hint = `To keep all scores of ${key} as text, add --text-scores ${key}.`;
      throw new AtPlace({ ...this.row, column }, `${shown} ${read.why}. ${hint}`);
    }
    report.addKind(key, read.kind, { place: { ...this.row, column }, shown });
    if (read.kind === 'number') this.setOf(key, member === 'value' ? 'value' : 'score', isText ? read.json : json);
    else this.setOf(key, 'value', json);
  }

  private setOf(key: string, member: string, json: string): void {
    const score = this.scores.get(key) ?? new Map<string, string>();
    if (score.has(member))
      throw new Misplaced(`the ${member === 'comment' ? 'comment' : 'score'} of ${key} comes twice.`);
    this.scores.set(key, score.set(member, json));
  }

  /** A list of scores as the API takes it, or an object of keys and their scores. */
  private putScores(json: string, column: string): void {
    const parts = partsOf(json);
    if (!parts) throw new Misplaced('scores are neither a list nor an object.');
    if (json.startsWith('[')) return parts.forEach((one) => this.putFeedback(one, column));
    const keys = new Set(parts.keys());
    for (const [name, value] of parts) {
      const { key, member } = scorePart(name, keys);
      this.putScore(key, member, value, `${column}.${name}`);
    }
  }

  private putFeedback(json: string, column: string): void {
    const parts = json.startsWith('{') ? partsOf(json)! : new Map<string, string>();
    const named = parts.get('key');
    if (!named?.startsWith('"')) throw new Misplaced('a score of the list is no object with a key.');
    const key = parsed(named);
    const other = [...parts.keys()].find((name) => !OF_FEEDBACK.has(name));
    if (other !== undefined) throw new Misplaced(`the score ${key} has a member ${other}, which is none of a score.`);
    this.putParts(key, parts, `${column}.${key}`);
    for (const [name, value] of parts) {
      if (name === 'key' || OF_SCORE.has(name) || value === 'null') continue;
      if (hasWords(value)) throw new Misplaced(`the member ${name} of the score ${key} is no JSON.`);
      this.setOf(key, name, value);
    }
  }
}

/** The error for a value that is there already. */
function twice(name: string, known: Tree | string): Misplaced {
  const whole = name.includes('.') && typeof known === 'string';
  return new Misplaced(whole ? `${name} comes twice.` : `${name} comes twice, or both as a whole and in parts.`);
}

function textOf(value: Tree | string): string {
  if (typeof value === 'string') return value;
  return `{${[...value].map(([name, of]) => `${JSON.stringify(name)}:${textOf(of)}`).join(',')}}`;
}

function parsed(json: string): string {
  return JSON.parse(json) as string;
}

function checked(cell: string): string {
  checkJson(cell);
  return cell.trim();
}
