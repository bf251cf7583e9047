import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { program } from './program';

const EXAMPLES = join(__dirname, '../../../docs/examples/ci');

/** Every text of a document that was read. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];
}

/** The words of each command of ours in the scripts of a template, up to what the shell does with it. */
function commandsOf(file: string): string[][] {
  const document: unknown = parse(readFileSync(join(EXAMPLES, file), 'utf8'));
  const lines = texts(document).flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.flatMap((line) => {
    const [, command] = /^\s*fairlead\s+(.*?)(?:\s+(?:\||>|\|\|)\s.*)?$/.exec(line) ?? [];
    return command === undefined ? [] : [command.match(/'[^']*'|"[^"]*"|\S+/g)!];
  });
}

/** The command that words name, and its words. */
function find(words: readonly string[], command: Command = program()): { command: Command; rest: readonly string[] } {
  const next = command.commands.find((one) => one.name() === words[0] || one.aliases().includes(words[0]!));
  return next ? find(words.slice(1), next) : { command, rest: words };
}

it.each(['github-workflow.yml', 'gitlab-ci.yml'])(
  '%s is read, and names commands and options that there are',
  (file) => {
    const found = commandsOf(file).map((words) => find(words));
    expect(found.map(({ command }) => `${command.parent!.name()} ${command.name()}`)).toEqual([
      'experiments compare',
      'fairlead deploy',
    ]);
    for (const { command, rest } of found) {
      const options = rest.filter((word) => word.startsWith('--'));
      expect(options.length).toBeGreaterThan(1);
      for (const option of options) expect(command.options.map(({ long }) => long)).toContain(option);
      const given = command.registeredArguments.length;
      expect(given).toBeGreaterThan(0);
    }
  },
);

it('no text of a pull request is put into a script by the host', () => {
  const workflow = parse(readFileSync(join(EXAMPLES, 'github-workflow.yml'), 'utf8')) as {
    jobs: Record<string, { steps: { run?: string }[] }>;
  };
  const scripts = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  expect(scripts.length).toBeGreaterThan(4);
  for (const script of scripts) expect(script).not.toContain('${{');
});
