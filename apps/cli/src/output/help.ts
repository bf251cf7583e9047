import type { Command, Help } from 'commander';

/** Columns of a terminal that help fits at least. */
const COLUMNS = 80;
/** Width of the column of options and commands; a longer one has a line of its own. */
const TERM = 26;

/** Words of a command line; an option and its value are one. */
const WORDS = /(?:--?[a-z][\w-]* (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Help of all commands: a long option stands above its description instead of moving all descriptions to the right. */
export const HELP_LAYOUT: Partial<Help> = {
  showGlobalOptions: true,
  minWidthToWrap: 20,
  padWidth(command, helper) {
    const widest = [
      helper.longestOptionTermLength(command, helper),
      helper.longestGlobalOptionTermLength(command, helper),
      helper.longestSubcommandTermLength(command, helper),
      helper.longestArgumentTermLength(command, helper),
    ];
    return Math.min(TERM, Math.max(...widest));
  },
  formatItem(term, termWidth, description, helper) {
    const width = (helper.helpWidth ?? COLUMNS) - termWidth - 4;
    const lines = description === '' ? [] : helper.boxWrap(description, width).split('\n');
    const indented = lines.map((line) => ' '.repeat(termWidth + 4) + line);
    if (helper.displayWidth(term) > termWidth || lines.length === 0) return [`  ${term}`, ...indented].join('\n');
    return [`  ${term.padEnd(termWidth)}  ${lines[0]!}`, ...indented.slice(1)].join('\n');
  },
};

/** Adds examples, without `fairlead`, to the end of a command's help. */
export function examples(command: Command, ...lines: readonly [string, ...string[]]): Command {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return command.addHelpText(
    'after',
    ['', title, ...lines.map((line) => shellLine(`fairlead ${line.trim()}`))].join('\n'),
  );
}

/** A command line that goes on in further lines where it is longer than a terminal. */
function shellLine(text: string): string {
  const words = text.match(WORDS) ?? [];
  const lines = [words.shift() ?? ''];
  for (const word of words) {
    const line = lines.at(-1)!;
    // The indent, a space and the mark of a line that goes on need nine columns.
    if (line.length + word.length + 9 <= COLUMNS) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return `  $ ${lines.join(' \\\n      ')}`;
}

/** Breaks a text into lines that fit a terminal. */
export function lined(text: string): string {
  return text.replaceAll(/(.{1,78})(?: |$)/g, '$1\n').trimEnd();
}
