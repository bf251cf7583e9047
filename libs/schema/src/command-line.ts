/** A command that cannot be used; the message says why. */
export class CommandProblem extends Error {
  override name = 'CommandProblem';
}

/** Placeholders, written as `{name}`, each of which may be one whole argument of a command. */
const PLACEHOLDERS = [
  'deployment_id',
  'deployment_name',
  'revision_id',
  'image_uri',
  'repo_url',
  'repo_ref',
  'commit_sha',
  'source_tarball',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Options whose next argument is a program for some interpreter. */
const CODE = /^-{1,2}[a-z]*(c|e|eval|command)$/i;

/**
 * The words of a command line, which no shell ever sees: separated by blanks; quotes keep blanks, a backslash keeps
 * the next character. A placeholder is a word of its own, and never the program or a script for an interpreter.
 * @throws CommandProblem
 */
export function parseCommand(text: string): readonly string[] {
  const words = split(text);
  if (words.length === 0) throw new CommandProblem('is empty');
  for (const [index, word] of words.entries()) {
    const name = /\{([a-z_]+)\}/.exec(word)?.[1];
    if (name === undefined) continue;
    if (!PLACEHOLDERS.some((known) => known === name)) throw new CommandProblem(`has an unknown placeholder {${name}}`);
    if (word !== `{${name}}`) throw new CommandProblem(`must have {${name}} as a whole argument`);
    if (index === 0) throw new CommandProblem('cannot have a placeholder as its program');
    if (CODE.test(words[index - 1]!)) throw new CommandProblem(`cannot have {${name}} as a script`);
  }
  return words;
}

/**
 * The words with values for placeholders, each one argument whatever it holds.
 * @throws CommandProblem for a value that is missing, or that a program would take for an option.
 */
export function fillCommand(
  words: readonly string[],
  values: Readonly<Record<Placeholder, string | undefined>>,
): readonly string[] {
  return words.map((word) => {
    const name = PLACEHOLDERS.find((known) => word === `{${known}}`);
    if (!name) return word;
    const value = values[name];
    if (!value) throw new CommandProblem(`The revision has no ${name}, which the command needs.`);
    if (value.startsWith('-')) throw new CommandProblem(`The revision's ${name} begins with a hyphen.`);
    return value;
  });
}

function split(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === quote) quote = '';
    else if (character === '\\' && quote !== "'") word = (word ?? '') + (text[++at] ?? '');
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') throw new CommandProblem('has a quote without its end');
  if (word !== undefined) words.push(word);
  return words;
}
