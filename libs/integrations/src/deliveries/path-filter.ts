import type { Provider } from '../integration/integration';

/** Work of all patterns on all files of one push, in steps. Beyond it the push is built, as one with too many files is. */
const MOST_STEPS = 5_000_000;
const MOST_ALTERNATIVES = 64;

type Test = (char: string) => boolean;

/** A state of a machine that reads a path: where it goes without reading, and with a character. */
interface State {
  readonly free: number[];
  readonly edges: { readonly test: Test; readonly to: number }[];
}

interface Pattern {
  readonly negated: boolean;
  readonly machines: readonly (readonly State[])[];
}

const anything: Test = () => true;
const inSegment: Test = (char) => char !== '/';
const exactly = (wanted: string) => (char: string) => char === wanted;

/**
 * Returns whether a push that changed these files is to be built with these patterns, in the grammar of the provider's
 * own CI. No patterns accept every push.
 */
export function accepts(provider: Provider, patterns: readonly string[], files: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  const isActions = provider === 'github' || provider === 'gitea';
  const compiled = patterns.map((pattern) => (isActions ? ofActions(pattern) : ofGlob(pattern, provider === 'gitlab')));
  const work = { steps: 0 };
  for (const file of files) {
    if (file.length > 0 && isChosen(compiled, file, work)) return true;
    if (work.steps > MOST_STEPS) return true;
  }
  return false;
}

/** The last pattern that matches a file decides. */
function isChosen(patterns: readonly Pattern[], file: string, work: { steps: number }): boolean {
  let chosen = false;
  for (const { negated, machines } of patterns) {
    if (chosen === !negated) continue;
    if (machines.some((machine) => matches(machine, file, work))) chosen = !negated;
  }
  return chosen;
}

/** GitHub Actions, and Gitea Actions after it: `*`, `**`, `?` and `+` for the character before, `[]`, and `!` in front. */
function ofActions(text: string): Pattern {
  const negated = text.startsWith('!');
  const machine = new Machine();
  const chars = [...(negated ? text.slice(1) : text)];
  for (let at = 0; at < chars.length;) {
    const { test, length } = readOne(chars, at);
    const next = chars[at + length];
    if (chars[at] === '*' && chars[at + 1] === '*') {
      const isFolders = chars[at + 2] === '/' && (at === 0 || chars[at - 1] === '/');
      if (isFolders) machine.folders();
      else machine.any(anything);
      at += isFolders ? 3 : 2;
    } else if (chars[at] === '*') {
      machine.any(inSegment);
      at++;
    } else if (next === '?' || next === '+') {
      if (next === '?') machine.optional(test);
      else machine.one(test).any(test);
      at += length + 1;
    } else {
      machine.one(test);
      at += length;
    }
  }
  return { negated, machines: [machine.states] };
}

/** GitLab (`File.fnmatch` of Ruby) and Bitbucket: `*`, `**`, `?` for one character, `[]`, `{a,b}`. */
function ofGlob(text: string, isRuby: boolean): Pattern {
  const machines = alternatives(text).map((alternative) => {
    const machine = new Machine();
    const chars = [...alternative];
    for (let at = 0; at < chars.length;) {
      const { test, length } = readOne(chars, at);
      if (chars[at] === '*' && chars[at + 1] === '*') {
        const isFolders = chars[at + 2] === '/' && (at === 0 || chars[at - 1] === '/');
        if (isFolders) machine.folders();
        // To Ruby, two stars that are no whole folder are as one.
        else machine.any(isRuby ? inSegment : anything);
        at += isFolders ? 3 : 2;
      } else if (chars[at] === '*') {
        machine.any(inSegment);
        at++;
      } else {
        machine.one(chars[at] === '?' ? inSegment : test);
        at += length;
      }
    }
    return machine.states;
  });
  return { negated: false, machines };
}

/** Builds the states of a machine one after the other. */
class Machine {
  readonly states: State[] = [{ free: [], edges: [] }];

  one(test: Test): this {
    return this.add((last, next) => last.edges.push({ test, to: next }));
  }

  optional(test: Test): this {
    return this.add((last, next) => {
      last.edges.push({ test, to: next });
      last.free.push(next);
    });
  }

  /** Any number of characters. */
  any(test: Test): this {
    this.add((last, next) => last.free.push(next));
    this.states.at(-1)!.edges.push({ test, to: this.states.length - 1 });
    return this;
  }

  /** Any number of folders, each with its slash. */
  folders(): this {
    this.add((last, inside) => last.edges.push({ test: anything, to: inside }));
    const inside = this.states.length - 1;
    this.add((last, next) => last.edges.push({ test: anything, to: inside }, { test: exactly('/'), to: next }));
    this.states[inside - 1]!.free.push(inside + 1);
    return this;
  }

  private add(link: (last: State, next: number) => unknown): this {
    const last = this.states.at(-1)!;
    link(last, this.states.length);
    this.states.push({ free: [], edges: [] });
    return this;
  }
}

/** Reads one character of a pattern, or a set of characters. */
function readOne(chars: readonly string[], at: number): { test: Test; length: number } {
  const char = chars[at]!;
  if (char === '\\' && chars[at + 1] !== undefined) return { test: exactly(chars[at + 1]!), length: 2 };
  const end = char === '[' ? chars.indexOf(']', at + 2) : -1;
  if (end < 0) return { test: exactly(char), length: 1 };
  const body = chars.slice(at + 1, end);
  const negated = body.length > 1 && (body[0] === '!' || body[0] === '^');
  const ranges = rangesOf(negated ? body.slice(1) : body);
  const test: Test = (tried) => tried !== '/' && negated !== ranges.some(([from, to]) => from <= tried && tried <= to);
  return { test, length: end - at + 1 };
}

function rangesOf(body: readonly string[]): (readonly [string, string])[] {
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < body.length; at++) {
    const to = body[at + 1] === '-' ? body[at + 2] : undefined;
    ranges.push([body[at]!, to ?? body[at]!]);
    if (to !== undefined) at += 2;
  }
  return ranges;
}

/** The texts that braces stand for; beyond a number of them, braces are taken as they are. */
function alternatives(text: string): string[] {
  const done: string[] = [];
  const open = [text];
  while (open.length > 0) {
    const next = open.pop()!;
    const [whole, body] = /\{([^{}]*)\}/.exec(next) ?? [];
    const parts = body?.split(',') ?? [];
    if (whole === undefined || done.length + open.length + parts.length > MOST_ALTERNATIVES) done.push(next);
    else open.push(...parts.map((part) => next.replace(whole, () => part)));
  }
  return done;
}

/** Reads a path with all states at once: the time grows with the lengths of both, whatever they are. */
function matches(states: readonly State[], path: string, work: { steps: number }): boolean {
  let active = new Set<number>();
  const enter = (into: Set<number>, state: number) => {
    work.steps++;
    if (into.has(state)) return;
    into.add(state);
    for (const next of states[state]!.free) enter(into, next);
  };
  enter(active, 0);
  for (const char of path) {
    const reached = new Set<number>();
    for (const state of active) {
      for (const { test, to } of states[state]!.edges) if (test(char)) enter(reached, to);
    }
    work.steps += active.size;
    active = reached;
    if (active.size === 0 || work.steps > MOST_STEPS) return false;
  }
  return active.has(states.length - 1);
}
