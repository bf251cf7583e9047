import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filesIn, root } from './files';

/** A source file: what it declares for others, what it passes on, and what it takes from others. */
export interface Module {
  readonly file: string;
  readonly text: string;
  /** Exported names that are declared here. */
  readonly declared: Set<string>;
  /** Names that come from another file: `export { name as other } from`. */
  readonly passed: Map<string, { readonly file: string; readonly name: string }>;
  /** Files that are passed on whole: `export * from`. */
  readonly whole: string[];
  /** Imports of this file: the file that each comes from, and the name; `*` stands for everything. */
  readonly taken: { readonly file: string; readonly name: string }[];
  /** Every package or file that is named in an import, as it is written. */
  readonly sources: Set<string>;
}

const { paths } = (
  JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: { paths: Record<string, [string]> };
  }
).compilerOptions;

/** Every source file of the repository by its path. */
export function readModules(): Map<string, Module> {
  const files = ['libs', 'apps', 'tools'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|mts|js|mjs|cjs)$/));
  return new Map(files.map((file) => [file, readModule(file)]));
}

/** Imports and exports from other files, as Prettier writes them: all names, or those between braces. */
const FROM =
  /^(import|export)\s+(?:type\s+)?(?:\w+,?\s+)??(?:(\*)(\s+as\s+\w+)?\s*|\{([^}]*)\}\s*)?(?:from\s+)?'([^'\n]+)'/gm;
const HERE = /^export\s+(?:type\s+)?\{([^}]*)\};/gm;
const DECLARED =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(?:const\s+enum|const|let|function\*?|class|interface|type|enum|namespace)\s+(\w+)/gm;
/** Additions to interfaces of another file. */
const ADDED = /^declare module '([^']+)' \{(.*?)^\}/gms;
/** `import('x')`, in code and in types, and `require('x')`: it may use anything of x. */
const LATER = /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g;

/** Pairs of a name in the other file and the name here. */
function namesIn(list: string): (readonly [name: string, here: string])[] {
  const names = list.split(',').map((one) => one.trim().replace(/^type\s+/, ''));
  return names.filter((one) => one !== '').map((one) => [one.split(/\s+as\s+/)[0]!, one.split(/\s+as\s+/).at(-1)!]);
}

function readModule(file: string): Module {
  const text = readFileSync(join(root, file), 'utf8');
  const declared = new Set([...text.matchAll(DECLARED)].map(([, name]) => name!));
  const module: Module = { file, text, declared, passed: new Map(), whole: [], taken: [], sources: new Set() };
  for (const [, list] of text.matchAll(HERE)) for (const [, here] of namesIn(list!)) declared.add(here);
  for (const [, kind, all, alias, list = '', source] of text.matchAll(FROM)) {
    module.sources.add(source!);
    const from = locate(source!, file);
    if (!from) continue;
    if (all && kind === 'export' && !alias) module.whole.push(from);
    else if (all) module.taken.push({ file: from, name: '*' });
    for (const [name, here] of namesIn(list)) {
      if (kind === 'export') module.passed.set(here, { file: from, name });
      else module.taken.push({ file: from, name });
    }
  }
  for (const [, source, body] of text.matchAll(ADDED)) {
    const from = locate(source!, file);
    const names = [...body!.matchAll(/^ {2}(?:export )?interface (\w+)/gm)].map(([, name]) => name!);
    if (from) module.taken.push(...names.map((name) => ({ file: from, name })));
  }
  for (const [, source] of text.matchAll(LATER)) {
    module.sources.add(source!);
    const from = locate(source!, file);
    if (from) module.taken.push({ file: from, name: '*' });
  }
  return module;
}

/** The file that an import leads to; undefined for packages of others. */
function locate(source: string, from: string): string | undefined {
  if (source.startsWith('.')) {
    const base = relative(root, join(root, dirname(from), source))
      .replace('/dist/', '/src/')
      .replace(/\.js$/, '');
    return [base, `${base}.ts`, `${base}.tsx`, join(base, 'index.ts')].find(
      (path) => /\.(ts|tsx|mjs|cjs)$/.test(path) && existsSync(join(root, path)),
    );
  }
  const [, library] = /^@fairlead\/([^/]+)$/.exec(source) ?? [];
  const exact = paths[source]?.[0] ?? (library && `./libs/${library}/src/index.ts`);
  return exact && existsSync(join(root, exact)) ? relative(root, join(root, exact)) : undefined;
}

/** The declaration that an exported name of a file leads to, as `file name`. */
export function declarationOf(
  modules: ReadonlyMap<string, Module>,
  file: string,
  name: string,
  seen = new Set<string>(),
): string | undefined {
  const module = modules.get(file);
  if (!module || seen.has(file)) return undefined;
  seen.add(file);
  if (module.declared.has(name)) return `${file} ${name}`;
  const passed = module.passed.get(name);
  if (passed) return declarationOf(modules, passed.file, passed.name);
  for (const other of module.whole) {
    const found = declarationOf(modules, other, name, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True for a file that belongs to tests or measurements only. */
export function isTest(file: string): boolean {
  return /\.spec\.ts$|\/testing\/|^apps\/e2e\/|^tools\/(bench|faults|lint)\//.test(file);
}
