import { stripVTControlCharacters } from 'node:util';

/** Characters of a reason that come from what a program wrote. */
const MOST_CHARACTERS = 1500;
/** Lines that a reason shows of a program that names no cause. */
const MOST_LINES = 20;

/** Characters of a line in which a cause is looked for. */
const MOST_TESTED = 500;

/** Lines of npm that say nothing of the cause. */
const NPM_ASIDE =
  /^npm (?:ERR!|error) (?:(?:code|errno|syscall|path|dest|command|location|workspace|signal|A complete log|Lifecycle|in workspace)\b|enoent This|$)/;

/** Lines that name a cause, the surest first; `first`: where several do, the later ones follow from it. */
const CAUSES: readonly { readonly line: RegExp; readonly first?: boolean; readonly unlike?: RegExp }[] = [
  // Python and JavaScript: the type of an error and its message, as the last line of a traceback or the first of a stack.
  { line: /^(?:Uncaught )?(?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: \S|$)/ },
  { line: /^(?:[A-Za-z_$][\w$]*\.)*(?:Error|Exception)(?: \[\w+\])?: \S/ },
  // Compilers, bundlers and package managers.
  { line: /\berror TS\d+: |^Type error: |^Module not found: |^(?:✘ )?\[ERROR\] |^error(?:\[\w+\])?: \S/, first: true },
  {
    line: /^ERROR: \S|^npm (?:ERR!|error) \S|^\s*ERR_PNPM_\w+|^error An? |^error \S|^➤ YN\d+: .*\berror\b/i,
    first: true,
    unlike: NPM_ASIDE,
  },
  // Shells.
  { line: /(?:: |^)(?:command )?not found$|: not found\b|: No such file or directory$|: Permission denied$/ },
  { line: /\b(?:error|fatal|panic|failed|cannot|can't|could not|denied|not found|address already in use)\b/i },
];

/** The number of the line that says best why a program has ended; undefined when none does. */
function causeAt(lines: readonly string[]): number | undefined {
  for (const { line, first = false, unlike } of CAUSES) {
    const isCause = (text: string) => line.test(text.slice(0, MOST_TESTED)) && !unlike?.test(text);
    const at = first ? lines.findIndex(isCause) : lines.findLastIndex(isCause);
    if (at >= 0) return at;
  }
  return undefined;
}

/**
 * Chooses the last lines of a program for a reason: those from the cause on, or the last ones where none names a cause,
 * without colours. Empty when there are none.
 */
export function causeIn(last: readonly string[]): string {
  const lines = last.map((line) => stripVTControlCharacters(line).trimEnd()).filter((line) => line !== '');
  const at = causeAt(lines);
  if (at === undefined) return lines.slice(-MOST_LINES).join(' | ').slice(-MOST_CHARACTERS);
  return lines.slice(at).join(' | ').slice(0, MOST_CHARACTERS);
}
