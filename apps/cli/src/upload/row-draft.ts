import type { ObjectMember, Target, TextMember } from './row-target';

/** JSON text, or an object whose members are added one by one. */
type Tree = Map<string, Tree | string>;

/** A value that its target cannot take. */
export class Misplaced extends Error {}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A row of an upload in the making; every value is JSON text, kept as it was written. */
export class RowDraft {
  readonly texts = new Map<TextMember, string>();
  /** Seconds. */
  latency: number | undefined;
  private readonly objects = new Map<ObjectMember, Tree | string>();
  private readonly scores: string[] = [];

  /** Takes what a cell of CSV holds; an empty one is no value. @throws Misplaced */
  putCell(target: Target, cell: string): void {
    if (cell === '') return;
    if (target.kind === 'object' ? target.json : target.kind === 'scores') this.put(target, checkedJson(cell));
    else if (target.kind === 'score') this.put(target, scoreCell(cell));
    else if (target.kind === 'latency') this.put(target, cell.trim());
    else this.put(target, JSON.stringify(cell));
  }

  /** Takes a value that is JSON text; null is no value. @throws Misplaced */
  put(target: Target, json: string): void {
    if (json === 'null') return;
    if (target.kind === 'text') this.texts.set(target.member, json);
    else if (target.kind === 'latency') this.latency = latencyOf(json);
    else if (target.kind === 'score') this.addScore(target.key, json);
    else if (target.kind === 'scores') this.addScores(json);
    else this.putObject(target.member, target.path, json);
  }

  /** An object member as JSON; undefined when nothing was put there. */
  object(member: ObjectMember): string | undefined {
    const value = this.objects.get(member);
    return value === undefined ? undefined : textOf(value);
  }

  /** Members of the row apart from those that `texts` and `latency` hold, as JSON members. */
  members(): string[] {
    const members = [...this.objects].map(([name, value]) => `"${name}":${textOf(value)}`);
    if (this.scores.length > 0) members.push(`"evaluation_scores":[${this.scores.join(',')}]`);
    return members;
  }

  private putObject(member: ObjectMember, path: readonly string[], json: string): void {
    const last = path.at(-1);
    if (last === undefined) {
      if (this.objects.has(member)) throw new Misplaced(`${member} is given both as a whole and in parts.`);
      this.objects.set(member, json);
      return;
    }
    let tree = this.objects.get(member) ?? new Map<string, Tree | string>();
    this.objects.set(member, tree);
    for (const name of path.slice(0, -1)) {
      if (typeof tree === 'string') break;
      const next: Tree | string = tree.get(name) ?? new Map<string, Tree | string>();
      tree.set(name, next);
      tree = next;
    }
    if (typeof tree === 'string' || tree.has(last)) {
      throw new Misplaced(`${[member, ...path].join('.')} is given both as a whole and in parts.`);
    }
    tree.set(last, json);
  }

  private addScore(key: string, json: string): void {
    const member = /^(?:[-\d]|true$|false$)/.test(json) ? 'score' : 'value';
    this.scores.push(`{"key":${JSON.stringify(key)},"${member}":${json}}`);
  }

  /** A list of scores as the API takes it, or an object of keys and their scores. */
  private addScores(json: string): void {
    const scores = JSON.parse(json) as unknown;
    if (Array.isArray(scores)) this.scores.push(...scores.map((one) => JSON.stringify(one)));
    else if (typeof scores !== 'object') throw new Misplaced('scores are neither a list nor an object.');
    else {
      for (const [key, value] of Object.entries(scores as object)) {
        if (value !== null) this.addScore(key, JSON.stringify(value));
      }
    }
  }
}

function textOf(value: Tree | string): string {
  if (typeof value === 'string') return value;
  return `{${[...value].map(([name, of]) => `${JSON.stringify(name)}:${textOf(of)}`).join(',')}}`;
}

function checkedJson(cell: string): string {
  try {
    JSON.parse(cell);
    return cell.trim();
  } catch (error) {
    throw new Misplaced(`is not JSON: ${(error as Error).message}`);
  }
}

/** A number or true and false as they are, other text as a value. */
function scoreCell(cell: string): string {
  const text = cell.trim();
  if (NUMBER.test(text) && Number.isFinite(Number(text))) return String(Number(text));
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : JSON.stringify(text);
}

function latencyOf(json: string): number {
  const latency = Number(json);
  if (NUMBER.test(json) && latency >= 0) return latency;
  throw new Misplaced(`latency is ${json}: it must be seconds.`);
}
