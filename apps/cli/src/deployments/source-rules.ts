import ignore from 'ignore';

/** Which files of a folder are its source. The console, which packs folders in browsers, has the same rules. */

/** A file, a link or a folder, which ends with a slash, that is no part of a source. */
export interface LeftOut {
  readonly path: string;
  /** The file and the pattern in it, or another reason in words. */
  readonly because: string;
}

/** Patterns for files that are never part of a source: those that tools make, and values of secrets. */
const NEVER = [
  ...['.git/', 'node_modules/', '.venv/', 'venv/', '__pycache__/', '.tox/', '.mypy_cache/', '.langgraph_api/'],
  ...['.env', '.env.*', '!.env.example'],
];

/** The decision of the rules about a path: left out or taken in again, and the line that decides. */
interface Decision {
  readonly isIgnored: boolean;
  readonly line: string;
}

interface Patterns {
  readonly decide: (path: string) => Decision | undefined;
}

interface OfFolder {
  /** The folder, without a slash at its end; empty for the source itself. */
  readonly folder: string;
  readonly patterns: Patterns;
}

export class SourceRules {
  private constructor(
    private readonly docker: DockerPatterns,
    private readonly git: readonly OfFolder[],
  ) {}

  /** The rules of the root of a source, whose files have these texts; empty where there is none. */
  static of(dockerignore: string, gitignore: string): SourceRules {
    return new SourceRules(new DockerPatterns(dockerignore), [{ folder: '', patterns: gitPatterns(lines(gitignore)) }]);
  }

  /** The rules in a folder of the source that has this `.gitignore`. */
  within(folder: string, gitignore: string): SourceRules {
    if (gitignore === '') return this;
    return new SourceRules(this.docker, [{ folder, patterns: gitPatterns(lines(gitignore)) }, ...this.git]);
  }

  /** Why a path is left out; a folder ends with a slash. As for Git, the innermost `.gitignore` with a pattern for it decides. */
  because(path: string): string | undefined {
    const git = this.byGit(path);
    if (isNever(path, git)) return 'never part of a source';
    return git?.isIgnored ? git.line : this.byDocker(path);
  }

  /** True when a folder that is left out may hold files that are taken in again, as for Docker. */
  mayHold(folder: string): boolean {
    const git = this.byGit(folder);
    return !isNever(folder, git) && !git?.isIgnored && this.docker.hasExceptions;
  }

  /** Which line says whether Git leaves a path out. */
  private byGit(path: string): Decision | undefined {
    for (const { folder, patterns } of this.git) {
      const decision = patterns.decide(folder === '' ? path : path.slice(folder.length + 1));
      if (!decision) continue;
      return { ...decision, line: `${folder === '' ? '' : `${folder}/`}.gitignore: ${decision.line}` };
    }
    return undefined;
  }

  private byDocker(path: string): string | undefined {
    const line = this.docker.ignoring(path.replace(/\/$/, ''));
    return line === undefined ? undefined : `.dockerignore: ${line}`;
  }
}

function lines(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

/** For Git, a pattern that ends with `**` and a slash names folders alone; `ignore` takes it for files in them too. */
function asFolders(pattern: string): string {
  return pattern.replace(/((?:^!?|\/)\*\*\/)( *)$/, '$1*/$2');
}

/** The grammar of `.gitignore`, with upper and lower case apart. */
function gitPatterns(all: readonly string[]): Patterns {
  const options = { ignorecase: false };
  const patterns = ignore(options).add(all.map(asFolders));
  return {
    decide: (path) => {
      const { ignored, unignored } = patterns.test(path);
      if (!ignored && !unignored) return undefined;
      const fits = (one: string) => (ignored || one.startsWith('!') ? one.slice(ignored ? 0 : 1) : '');
      const line = all.findLast((one) =>
        ignore(options)
          .add(asFolders(fits(one)))
          .ignores(path),
      );
      return { isIgnored: ignored, line: line ?? '' };
    },
  };
}

const never = gitPatterns(NEVER);

/** A file like `.env.production` is taken in by a line that names it; `!*` alone would take in secrets and `.git`. */
function isNever(path: string, git: Decision | undefined): boolean {
  if (!never.decide(path)?.isIgnored) return false;
  const isNamed = git?.isIgnored === false && /[!/]\.env[^/]*$/.test(git.line);
  return path.endsWith('/') || !isNamed;
}

/**
 * The grammar of `.dockerignore` (https://docs.docker.com/build/concepts/context/#dockerignore-files): patterns are paths
 * from the root of the source, one that names a folder names all in it, and the last one that fits decides.
 */
class DockerPatterns {
  readonly hasExceptions: boolean;
  private readonly patterns: readonly { line: string; isException: boolean; expression: RegExp }[];

  constructor(text: string) {
    this.patterns = lines(text)
      .filter((line) => !line.startsWith('#') && line.trim() !== '')
      .map((line) => {
        const isException = line.trim().startsWith('!');
        const path = isException ? line.trim().slice(1).trim() : line.trim();
        return { line: line.trim(), isException, expression: dockerExpression(cleaned(path)) };
      });
    this.hasExceptions = this.patterns.some(({ isException }) => isException);
  }

  /** The line that leaves a path out; undefined when none does. */
  ignoring(path: string): string | undefined {
    const parts = path.split('/');
    const all = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const last = this.patterns.findLast(({ expression }) => all.some((one) => expression.test(one)));
    return last && !last.isException ? last.line : undefined;
  }
}

/** A path without `.`, `..`, doubled slashes and a slash at its ends. */
function cleaned(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** As the pattern matcher of Docker: `**` is any number of folders, `*` and `?` are within a name. */
function dockerExpression(pattern: string): RegExp {
  let source = '';
  for (let at = 0; at < pattern.length; at++) {
    const [one, next] = [pattern[at]!, pattern[at + 1]];
    if (one === '*' && next === '*') {
      at++;
      if (pattern[at + 1] === '/') at++;
      source += at + 1 >= pattern.length ? '.*' : '(?:.*/)?';
    } else if (one === '*') source += '[^/]*';
    else if (one === '?') source += '[^/]';
    else if (one === '\\' && next !== undefined) source += escaped(pattern[++at]!);
    else source += one === '[' || one === ']' || one === '-' || one === '^' ? one : escaped(one);
  }
  try {
    return new RegExp(`^${source}$`, 's');
  } catch {
    // Docker refuses a class that is not closed; nothing has such a name.
    return /^\/$/;
  }
}

function escaped(character: string): string {
  return /[\w/]/.test(character) || character > '\x7f' ? character : `\\${character}`;
}
