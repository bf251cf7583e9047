import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
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

const read = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8'));
const { paths } = (read.config as { compilerOptions: { paths: Record<string, [string]> } }).compilerOptions;

/** Every source file of the repository by its path. */
export function readModules(): Map<string, Module> {
  const files = ['libs', 'apps', 'tools'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|mts|js|mjs|cjs)$/));
  return new Map(files.map((file) => [file, readModule(file)]));
}

function readModule(file: string): Module {
  const text = readFileSync(join(root, file), 'utf8');
  const module: Module = {
    file,
    text,
    declared: new Set(),
    passed: new Map(),
    whole: [],
    taken: [],
    sources: new Set(),
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  for (const statement of source.statements) readStatement(statement, module);
  // `import('x')`, in code and in types, and `require('x')` may use anything of x.
  for (const [, name] of text.matchAll(/\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g)) {
    module.sources.add(name!);
    const from = locate(name!, file);
    if (from) module.taken.push({ file: from, name: '*' });
  }
  return module;
}

function readStatement(statement: ts.Statement, module: Module): void {
  if (ts.isImportDeclaration(statement)) return readImport(statement, module);
  if (ts.isExportDeclaration(statement)) return readExport(statement, module);
  if (ts.isModuleDeclaration(statement)) return readAugmentation(statement, module);
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  const kinds = modifiers.map(({ kind }) => kind);
  if (!kinds.includes(ts.SyntaxKind.ExportKeyword) || kinds.includes(ts.SyntaxKind.DefaultKeyword)) return;
  if (ts.isVariableStatement(statement)) {
    for (const { name } of statement.declarationList.declarations) module.declared.add((name as ts.Identifier).text);
  } else {
    const { name } = statement as ts.Statement & { name?: ts.Identifier };
    if (name) module.declared.add(name.text);
  }
}

function readImport({ moduleSpecifier, importClause }: ts.ImportDeclaration, module: Module): void {
  const source = (moduleSpecifier as ts.StringLiteral).text;
  module.sources.add(source);
  const file = locate(source, module.file);
  const bindings = importClause?.namedBindings;
  if (!file || !bindings) return;
  if (ts.isNamespaceImport(bindings)) module.taken.push({ file, name: '*' });
  else
    for (const { name, propertyName } of bindings.elements)
      module.taken.push({ file, name: (propertyName ?? name).text });
}

/** `declare module` adds to interfaces of another file. */
function readAugmentation({ name, body }: ts.ModuleDeclaration, module: Module): void {
  const file = locate(name.text, module.file);
  if (!file || !body || !ts.isModuleBlock(body)) return;
  for (const statement of body.statements) {
    if (ts.isInterfaceDeclaration(statement)) module.taken.push({ file, name: statement.name.text });
  }
}

function readExport({ moduleSpecifier, exportClause }: ts.ExportDeclaration, module: Module): void {
  const file = moduleSpecifier && locate((moduleSpecifier as ts.StringLiteral).text, module.file);
  if (moduleSpecifier) module.sources.add((moduleSpecifier as ts.StringLiteral).text);
  if (!exportClause) {
    if (file) module.whole.push(file);
  } else if (ts.isNamedExports(exportClause)) {
    for (const { name, propertyName } of exportClause.elements) {
      if (file) module.passed.set(name.text, { file, name: (propertyName ?? name).text });
      else module.declared.add(name.text);
    }
  } else if (file) module.taken.push({ file, name: '*' });
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
