import type { Command, Option } from 'commander';

/** One place in a command line: what can follow the words of a command. */
interface Place {
  /** The words of the command, such as `deployments list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly alias?: string; readonly about: string }[];
  readonly options: readonly Flag[];
}

interface Flag {
  readonly long: string;
  readonly short?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

/** Every place of the program. */
export function places(all: Command, path: readonly string[] = []): Place[] {
  const options = all.options.filter(({ hidden }) => !hidden);
  const commands = all.commands.map((child) => ({
    name: child.name(),
    alias: child.alias() || undefined,
    about: oneLine(child.description()),
  }));
  const own: Place = { path: path.join(' '), commands, options: options.map(flagOf) };
  return [own, ...all.commands.flatMap((child) => places(child, [...path, child.name()]))];
}

function flagOf({ long, short, description, required, optional, argChoices, flags }: Option): Flag {
  const choices = argChoices ?? (optional ? ['true', 'false'] : []);
  return {
    long: long!,
    short: short ?? undefined,
    about: oneLine(description),
    takesValue: required,
    choices,
    isFile: flags.includes('<file>'),
  };
}

const SHELLS = { bash, zsh, fish };
export const SHELL_NAMES = Object.keys(SHELLS);

/** The script that teaches a shell what `fairlead` takes. */
export function completionScript(shell: string, all: Command): string {
  return SHELLS[shell as keyof typeof SHELLS](places(all));
}

/** The cases that follow a command line word by word: names become paths, values of options are passed over. */
function walk(all: readonly Place[]): string {
  const valued = [
    ...new Set(all.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).flatMap(names))),
  ];
  const steps = all.flatMap(({ path, commands }) =>
    commands.map(({ name, alias }) => {
      const patterns = [name, ...(alias === undefined ? [] : [alias])].map((word) => quoted(`${path}/${word}`));
      return `        ${patterns.join('|')}) at=${quoted(path === '' ? name : `${path} ${name}`)} ;;`;
    }),
  );
  return `    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      ${valued.join('|')}) skip=1 ;;
      -*) ;;
      *) case "$at/$word" in
${steps.join('\n')}
      esac ;;
    esac`;
}

function bash(all: readonly Place[]): string {
  const words = all.map(({ path, commands, options }) => {
    const shown = [...commands.map(({ name }) => name), ...options.flatMap(names)];
    return `    ${quoted(path)}) words=${quoted(shown.join(' '))} ;;`;
  });
  const [program] = all;
  return `# Completion of fairlead for bash: put this into ~/.local/share/bash-completion/completions/fairlead
_fairlead() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at= skip= word i
  local words= everywhere=${quoted(program!.options.flatMap(names).join(' '))}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
${walk(all)}
  done
  case "$at/$prev" in
${valuesOf(all, (choices) => `words=${quoted(choices)} ;;`, 'words=\'\'; COMPREPLY=($(compgen -f -- "$cur")); return ;;', 'return ;;')}
    *) case $at in
${words.join('\n')}
    esac
    words+=" $everywhere" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  # Commands and options first; where there are none, names of files.
  if [[ \${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _fairlead fairlead
`;
}

function zsh(all: readonly Place[]): string {
  let everywhere = '';
  const told = all.map(({ path, commands, options }) => {
    const lines = (each: readonly (readonly [string, string])[]) =>
      each.map(([name, about]) => quoted(`${name}:${about}`)).join(' ');
    const flags = options.flatMap((flag) => names(flag).map((name) => [name, flag.about] as const));
    const named = commands.map(({ name, about }) => [name, about] as const);
    if (path === '') everywhere = lines(flags);
    return `    ${quoted(path)}) commands=(${lines(named)}); flags=(${path === '' ? '' : lines(flags)}) ;;`;
  });
  return `#compdef fairlead
# Completion of fairlead for zsh: put this into a folder of $fpath as _fairlead, or source it after compinit.
_fairlead() {
  local at= skip= word i
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
${walk(all)}
  done
  case "$at/\${words[CURRENT - 1]}" in
${valuesOf(all, (choices) => `compadd -- ${choices}; return ;;`, '_files; return ;;', 'return ;;')}
  esac
  case $at in
${told.join('\n')}
  esac
  flags+=(${everywhere})
  if [[ $PREFIX == -* ]]; then _describe -o option flags
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
`;
}

/** Cases for what follows an option that takes a value. */
function valuesOf(all: readonly Place[], choose: (choices: string) => string, file: string, other: string): string {
  const cases = all.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue, choices }) => takesValue || choices.length > 0)
      .map((flag) => {
        const patterns = names(flag).map((name) => (path === '' ? `*/${name}` : quoted(`${path}/${name}`)));
        const then = flag.choices.length > 0 ? choose(flag.choices.join(' ')) : flag.isFile ? file : other;
        return `    ${patterns.join('|')}) ${then}`;
      }),
  );
  return cases.reverse().join('\n');
}

function fish(all: readonly Place[]): string {
  const valued = [
    ...new Set(all.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).flatMap(names))),
  ];
  const steps = all.flatMap(({ path, commands }) =>
    commands.map(({ name, alias }) => {
      const patterns = [name, ...(alias === undefined ? [] : [alias])].map((word) => quoted(`${path}/${word}`));
      return `            case ${patterns.join(' ')}\n                set at ${quoted(path === '' ? name : `${path} ${name}`)}`;
    }),
  );
  const lines = all.flatMap(({ path, commands, options }) => {
    const here = `complete -c fairlead -n 'test (__fairlead_at) = "${path || '.'}"'`;
    return [
      ...commands.map(({ name, about }) => `${here} -f -a ${name} -d ${quoted(about)}`),
      ...options.map(({ long, short, about, takesValue, choices, isFile }) => {
        const value =
          choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : isFile ? ' -r -F' : takesValue ? ' -x' : '';
        return `${path === '' ? 'complete -c fairlead' : here} -l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ''}${value} -d ${quoted(about)}`;
      }),
    ];
  });
  return `# Completion of fairlead for fish: put this into ~/.config/fish/completions/fairlead.fish
function __fairlead_at
    set -l at ''
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${valued.join(' ')}
                set skip 1
                continue
            case '-*'
                continue
        end
        switch "$at/$word"
${steps.join('\n')}
        end
    end
    test -n "$at"; and echo $at; or echo .
end
${lines.join('\n')}
`;
}

function names({ long, short }: Flag): string[] {
  return short === undefined ? [long] : [long, short];
}

/** In single quotes, as all three shells understand them. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll("'", '’');
}
