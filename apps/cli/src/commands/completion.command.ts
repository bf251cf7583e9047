import { Argument, type Command } from 'commander';
import { does } from '../api/context';
import { completionScript, SHELL_NAMES } from '../table/completion';

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
  does(completion, async (context, [shell]) => context.out.text(completionScript(shell!, all)));
}
