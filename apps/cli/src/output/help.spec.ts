import type { Command } from 'commander';
import { program } from '../program';

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const pathOf = (command: Command): string =>
  (command.parent ? `${pathOf(command.parent)} ${command.name()}` : '').trim();

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

/** The command lines of a help text, each as the words that a shell makes of it. */
function examplesIn(help: string): string[][] {
  const lines = help.replaceAll(/ \\\n +/g, ' ').matchAll(/^ {2}\$ fairlead (.*)$/gm);
  return [...lines].map(([, line]) =>
    (line!.split(/ [<>] /)[0]!.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
      word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    ),
  );
}

const commands = all(program());

/** Runs a command line; returns the path of the command that it ran. */
const ran = (() => {
  const whole = program();
  let last = '';
  for (const each of all(whole)) {
    each.exitOverride().configureOutput({ writeErr: () => undefined });
    if (each.commands.length === 0) each.action(() => void (last = pathOf(each)));
  }
  return async (words: readonly string[]) => {
    last = '';
    await whole.parseAsync(words, { from: 'user' });
    return last;
  };
})();

it.each(commands.map((command) => [pathOf(command), command] as const))(
  'The help of "fairlead %s" fits a terminal of 80 columns',
  (_path, command) => {
    expect(
      helpOf(command)
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
  },
);

it.each(commands.filter((each) => each.commands.length === 0).map((command) => [pathOf(command), command] as const))(
  '"fairlead %s" has examples, which the program accepts',
  async (path, command) => {
    const examples = examplesIn(helpOf(command));
    if (path !== 'completion names') expect(examples.length).toBeGreaterThan(0);
    for (const words of examples) expect(await ran(words)).toBe(path);
  },
);
