// Compiles projects file by file: `build.mjs <folder> …`, or all of them and the console beside. Types play no part here:
// `npm run typecheck` checks them for all projects at once.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
const compilerOptions = ts.convertCompilerOptionsFromJson(read.config.compilerOptions, root).options;

/** Projects whose package.json names this script. */
function projects() {
  return ['libs', 'apps', 'tools']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => existsSync(join(path, 'package.json')))
    .filter((path) => readFileSync(join(path, 'package.json'), 'utf8').includes('tools/build/build.mjs'));
}

/** Writes `dist` from the sources without tests, and removes from it what they do not make. @throws Error at wrong syntax */
function build(project) {
  const [sources, output] = [join(project, 'src'), join(project, 'dist')];
  const written = new Set();
  const write = (name, text) => {
    mkdirSync(dirname(join(output, name)), { recursive: true });
    writeFileSync(join(output, name), text);
    written.add(name);
  };
  for (const name of readdirSync(sources, { recursive: true })) {
    if (!name.endsWith('.ts') || name.endsWith('.spec.ts') || name.startsWith('testing/')) continue;
    const fileName = join(sources, name);
    const made = ts.transpileModule(readFileSync(fileName, 'utf8'), {
      compilerOptions,
      fileName,
      reportDiagnostics: true,
    });
    if (made.diagnostics.length > 0) {
      const host = { getCanonicalFileName: (path) => path, getCurrentDirectory: () => root, getNewLine: () => '\n' };
      throw new Error(ts.formatDiagnostics(made.diagnostics, host));
    }
    write(name.replace(/\.ts$/, '.js'), made.outputText);
    write(name.replace(/\.ts$/, '.js.map'), made.sourceMapText);
  }
  for (const entry of readdirSync(output, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path.slice(output.length + 1))) rmSync(path);
  }
}

function buildConsole() {
  const vite = spawn('npm', ['run', '--silent', 'build', '-w', '@fairlead/console'], { cwd: root, stdio: 'inherit' });
  // One that a signal ended, as when memory runs out, has no exit code.
  return new Promise((resolve) => vite.once('error', () => resolve(1)).once('exit', (code) => resolve(code ?? 1)));
}

const wanted = process.argv.slice(2);
const consoleBuilt = wanted.length === 0 ? buildConsole() : 0;
for (const project of wanted.length === 0 ? projects() : wanted) build(resolve(project));
process.exitCode = await consoleBuilt;
