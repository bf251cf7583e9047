import { stripVTControlCharacters } from 'node:util';

/** Characters of a reason that come from what a program wrote. */
const MOST_CHARACTERS = 1500;
/** Lines that a reason shows of a program that names no cause. */
const MOST_LINES = 20;

/** Characters of a line in which a cause is looked for. */
const MOST_TESTED = 500;
/** Characters of each line in a reason: pip, for example, lists every version of a package in one line. */
const MOST_OF_LINE = 300;

/** Lines that say nothing of the cause: a package manager says of each command only that it has failed. */
const ASIDE = [
  /^npm (?:ERR!|error) (?:(?:code|errno|syscall|path|dest|command|location|workspace|signal|A complete log|Lifecycle|in workspace)\b|enoent This|$)/,
  /\bELIFECYCLE\b|\bERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\b/,
  /^error Command failed(?: with (?:exit code|signal)|\.$)|^info Visit https:\/\/yarnpkg/,
  /^(?:➤ YN0000: .*)?(?:·|└).* Failed with errors in/,
  /^make(?:\[\d+\])?: \*\*\* .*\bError \d+$/,
  /^(?:.*#\w+: )?(?: ?ERROR )?(?:run failed: )?command (?:.*)?(?:exited|finished with error)\b|^\s*Failed: {4}/,
  /^ERROR: Ignored the following versions\b|^\[notice\] /,
];

/** Lines that name a cause, the surest first; `first`: where several do, the later ones follow from it. */
const CAUSES: readonly { readonly line: RegExp; readonly first?: boolean }[] = [
  // Python and JavaScript: the type of an error and its message, as the last line of a traceback or the first of a stack.
  { line: /^(?:Uncaught )?(?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: \S|$)/ },
  { line: /^(?:[A-Za-z_$][\w$]*\.)*(?:Error|Exception)(?: \[\w+\])?: \S/ },
  // Compilers, bundlers and package managers.
  {
    line: /\berror TS\d+: |^Type error: |^Module not found: |^(?:✘ )?\[ERROR\] |^error(?:\[\w+\])?: \S|^Failed to compile\b|^(?:✗|x) Build failed\b|^error during build:|^ERROR in \S|\bfatal error: |^\s*× No solution found/,
    first: true,
  },
  {
    line: /^ERROR: \S|^npm (?:ERR!|error) \S|^\s*ERR_PNPM_\w+|^error An? |^error \S|^➤ YN\d+: .*\berror\b|^gyp ERR! stack /i,
    first: true,
  },
  // Shells.
  { line: /(?:: |^)(?:command )?not found$|: not found\b|: No such file or directory$|: Permission denied$/ },
  { line: /\b(?:error|fatal|panic|failed|cannot|can't|could not|denied|not found|address already in use)\b/i },
];

/** The number of the line that says best why a program has ended; undefined when none does. */
function causeAt(lines: readonly string[]): number | undefined {
  const traced = afterTraceback(lines);
  if (traced !== undefined) return traced;
  const isAside = (text: string) => ASIDE.some((aside) => aside.test(text));
  for (const { line, first = false } of CAUSES) {
    const isCause = (text: string) => line.test(text) && !isAside(text);
    const at = first ? lines.findIndex(isCause) : lines.findLastIndex(isCause);
    if (at >= 0) return at;
  }
  return undefined;
}

/** The line below the last traceback of Python, which names the exception, however its class is called. */
function afterTraceback(lines: readonly string[]): number | undefined {
  const begin = lines.findLastIndex((line) => line === 'Traceback (most recent call last):');
  if (begin < 0) return undefined;
  const at = lines.findIndex((line, index) => index > begin && /^[A-Za-z_]/.test(line));
  return at < 0 ? undefined : at;
}

/**
 * Chooses the last lines of a program for a reason: those from the cause on, or the last ones where none names a cause,
 * without colours. Empty when there are none.
 */
export function causeIn(last: readonly string[]): string {
  const lines = last.map((line) => stripVTControlCharacters(line).trimEnd()).filter((line) => line !== '');
  const at = causeAt(lines.map((line) => line.slice(0, MOST_TESTED)));
  const shown = lines.map((line) => (line.length > MOST_OF_LINE ? `${line.slice(0, MOST_OF_LINE)} …` : line));
  if (at === undefined) return shown.slice(-MOST_LINES).join(' | ').slice(-MOST_CHARACTERS);
  return shown.slice(at).join(' | ').slice(0, MOST_CHARACTERS);
}
