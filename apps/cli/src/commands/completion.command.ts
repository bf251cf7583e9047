import { Argument, type Command } from 'commander';
import { does } from '../api/context';
import { isKind, namesBeginning } from '../api/kinds';
import { completionScript, SHELL_NAMES } from '../table/completion';

/** Seconds and pages that a completion of names takes at most. */
const [NAMES_S, NAMES_PAGES] = [3, 2];

export function addCompletion(all: Command): void {
  const completion = all
    .command('completion')
    .description('the script that completes command lines in a shell')
    .addArgument(new Argument('<shell>').choices(SHELL_NAMES))
    .addHelpText(
      'after',
      `
Examples:
  $ fairlead completion bash \\
      > ~/.local/share/bash-completion/completions/fairlead
  $ fairlead completion zsh > "\${fpath[1]}/_fairlead"
  $ fairlead completion fish > ~/.config/fish/completions/fairlead.fish`,
    );
  does(completion, async ({ out }, [shell]) => out.line(completionScript(shell!, all).trimEnd()));

  const names = completion
    .command('names', { hidden: true })
    .argument('<kind>')
    .argument('[beginning]', 'of the names', '');
  does(names, async (context, [kind, beginning]) => {
    if (!isKind(kind!)) return;
    // Whoever presses a key waits for it, and an error would be written into the line.
    const { api, out } = context.at({ timeout: NAMES_S });
    const found = await namesBeginning(api, kind, beginning!, NAMES_PAGES).catch(() => []);
    for (const name of found) out.line(name);
  });
}
