import type { Command, Option } from 'commander';
import { type Kind, kindOf } from '../api/kinds';

/** One place in a command line: what can follow the words of a command. */
interface Place {
  /** The words of the command, such as `deployments list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly alias?: string; readonly about: string }[];
  readonly options: readonly Flag[];
  /** Kind of the things that arguments name, such as `deployment`, and how many arguments do. */
  readonly named?: { readonly kind: Kind; readonly most: number };
}

interface Flag {
  readonly long: string;
  readonly short?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly isFile: boolean;
  /** Kind of the thing that the value names. */
  readonly kind?: Kind;
}

/** Every place of the program. */
export function places(all: Command, path: readonly string[] = []): Place[] {
  const options = all.options.filter(({ hidden }) => !hidden);
  const children = all.commands.filter((child) => all.createHelp().visibleCommands(all).includes(child));
  const commands = children.map((child) => ({
    name: child.name(),
    alias: child.alias() || undefined,
    about: oneLine(child.description()),
  }));
  const [first] = all.registeredArguments;
  const kind = first && kindOf(first.name().replace(/s$/, ''));
  const named = kind && { kind, most: first.variadic ? 1000 : 1 };
  const own: Place = { path: path.join(' '), commands, options: options.map(flagOf), named };
  return [own, ...children.flatMap((child) => places(child, [...path, child.name()]))];
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
    kind: flags.includes('id|name') ? kindOf(long!.slice(2).replaceAll('-', '_')) : undefined,
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
        *) given=$((given + 1)) ;;
      esac ;;
    esac`;
}

function bash(all: readonly Place[]): string {
  const words = all.map(({ path, commands, options, named }) => {
    const shown = [...commands.map(({ name }) => name), ...options.flatMap(names)];
    const kind = named ? ` kind=${named.kind} most=${named.most}` : '';
    return `    ${quoted(path)}) words=${quoted(shown.join(' '))}${kind} ;;`;
  });
  const [program] = all;
  return `# Completion of fairlead for bash: put this into ~/.local/share/bash-completion/completions/fairlead
# Names are never expanded: anybody in the workspace can choose them.
_fairlead_names() {
  local name
  compopt +o filenames 2>/dev/null
  while IFS= read -r name; do
    printf -v word %q "$name"
    if [[ $name == "$cur"* || $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
  done < <(fairlead completion names "$1" "\${cur//\\\\/}" 2>/dev/null)
}
_fairlead() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at= skip= given=0 kind= most=0 word i
  COMPREPLY=()
  local words= everywhere=${quoted(program!.options.flatMap(names).join(' '))}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
${walk(all)}
  done
  case "$at/$prev" in
${valuesOf(all, {
  choose: (choices) => `words=${quoted(choices)} ;;`,
  file: 'words=\'\'; COMPREPLY=($(compgen -f -- "$cur")); return ;;',
  name: (kind) => `_fairlead_names ${kind}; return ;;`,
  other: 'return ;;',
})}
    *) case $at in
${words.join('\n')}
    esac
    words+=" $everywhere" ;;
  esac
  if [[ -n $kind && $cur != -* && $given -lt $most ]]; then
    _fairlead_names "$kind"
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  # Commands and options first; where there are none, names of files.
  if [[ \${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _fairlead fairlead
`;
}

function zsh(all: readonly Place[]): string {
  let everywhere = '';
  const told = all.map(({ path, commands, options, named }) => {
    const lines = (each: readonly (readonly [string, string])[]) =>
      each.map(([name, about]) => quoted(`${name}:${about}`)).join(' ');
    const flags = options.flatMap((flag) => names(flag).map((name) => [name, flag.about] as const));
    const words = commands.map(({ name, about }) => [name, about] as const);
    if (path === '') everywhere = lines(flags);
    const kind = named ? ` kind=${named.kind}; most=${named.most};` : '';
    return `    ${quoted(path)}) commands=(${lines(words)}); flags=(${path === '' ? '' : lines(flags)});${kind} ;;`;
  });
  return `#compdef fairlead
# Completion of fairlead for zsh: put this into a folder of $fpath as _fairlead, or source it after compinit.
_fairlead_names() {
  local -a found
  found=("\${(@f)$(fairlead completion names $1 "\${(Q)PREFIX}" 2>/dev/null)}")
  compadd -- $found
}
_fairlead() {
  local at= skip= kind= word i
  local -i given=0 most=0
  local -a commands flags
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
${walk(all)}
  done
  case "$at/\${words[CURRENT - 1]}" in
${valuesOf(all, {
  choose: (choices) => `compadd -- ${choices}; return ;;`,
  file: '_files; return ;;',
  name: (kind) => `_fairlead_names ${kind}; return ;;`,
  other: 'return ;;',
})}
  esac
  case $at in
${told.join('\n')}
  esac
  flags+=(${everywhere})
  if [[ $PREFIX == -* ]]; then _describe -o option flags
  elif (( $#commands )); then _describe command commands
  elif [[ -n $kind ]] && (( given < most )); then _fairlead_names $kind
  else _files
  fi
}
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
`;
}

/** Code of a shell for each kind of value that an option takes. */
interface ValueCode {
  readonly choose: (choices: string) => string;
  readonly file: string;
  readonly name: (kind: Kind) => string;
  readonly other: string;
}

/** Cases for what follows an option that takes a value. */
function valuesOf(all: readonly Place[], { choose, file, name, other }: ValueCode): string {
  const named = ({ kind }: Flag) => (kind === undefined ? other : name(kind));
  const cases = all.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue, choices }) => takesValue || choices.length > 0)
      .map((flag) => {
        const patterns = names(flag).map((each) => (path === '' ? `*/${each}` : quoted(`${path}/${each}`)));
        const then = flag.choices.length > 0 ? choose(flag.choices.join(' ')) : flag.isFile ? file : named(flag);
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
  const lines = all.flatMap(({ path, commands, options, named }) => {
    const here = `complete -c fairlead -n 'test (__fairlead_at) = "${path || '.'}"'`;
    return [
      ...(named ? [`${here} -f -a '(fairlead completion names ${named.kind} (commandline -ct) 2>/dev/null)'`] : []),
      ...commands.map(({ name, about }) => `${here} -f -a ${name} -d ${quoted(about)}`),
      ...options.map(({ long, short, about, takesValue, choices, isFile, kind }) => {
        const value = kind
          ? ` -x -a '(fairlead completion names ${kind} (commandline -ct) 2>/dev/null)'`
          : choices.length > 0
            ? ` -x -a ${quoted(choices.join(' '))}`
            : isFile
              ? ' -r -F'
              : takesValue
                ? ' -x'
                : '';
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
