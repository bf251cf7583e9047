// Lets plain Node run the sources: `node -r ./tools/test/typescript.cjs apps/standalone/src/main.ts`. Tests start
// processes this way, so that they need no build and always run what is in the sources. What has been compiled is kept
// in `.cache/compiled` by the digest of its text, for the many processes of a test run.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');
const { transform, moduleNameMapper } = require('../../jest.config.js');
const { version } = require('@swc/core/package.json');

const root = join(__dirname, '..', '..');
const kept = join(root, '.cache', 'compiled');
const [sources, modules] = ['^.+\\.ts$', '^.+\\.m?js$'].map((pattern) => transform[pattern][1]);
const aliases = Object.entries(moduleNameMapper).map(([pattern, file]) => [
  new RegExp(pattern),
  file.replace('<rootDir>', root),
]);

require.extensions['.ts'] = (module, filename) => {
  module._compile(transformed(readFileSync(filename, 'utf8'), filename, sources), filename, 'commonjs');
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const alias = aliases.find(([pattern]) => pattern.test(request));
  return resolveFilename.call(this, alias ? request.replace(alias[0], alias[1]) : request, ...rest);
};

const compile = Module.prototype._compile;
Module.prototype._compile = function (given, filename, format) {
  // Node compiles ES modules anew in each process. Here they become what Jest makes of them.
  const source = format === 'module' ? transformed(given, filename, modules) : given;
  // Node's own way knows dynamic imports and first lines that name a program.
  if (format !== 'module' && /\bimport\s*\(|^#!/.test(source)) return compile.call(this, source, filename, format);
  const file = keptAs('bin', String(cachedDataVersionTag()), filename, source);
  const cachedData = read(file);
  let script;
  try {
    script = new Script(Module.wrap(source), { filename, cachedData, columnOffset: -Module.wrapper[0].length });
  } catch {
    return compile.call(this, given, filename, format);
  }
  const require = (id) => this.require(id);
  require.resolve = (request, how) => Module._resolveFilename(request, this, false, how);
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, this);
  Object.assign(require, { main: process.mainModule, extensions: Module._extensions, cache: Module._cache });
  const run = script.runInThisContext();
  const result = run.call(this.exports, this.exports, require, this, filename, dirname(filename));
  // Now it holds the functions too that were called meanwhile.
  if (cachedData === undefined || script.cachedDataRejected) keep(file, script.createCachedData());
  return result;
};

/** The text that the compiler makes of a file. */
function transformed(source, filename, options) {
  const file = keptAs('js', JSON.stringify([version, options]), filename, source);
  let code = read(file)?.toString();
  if (code === undefined) {
    code = require('@swc/core').transformSync(source, { ...options, filename, swcrc: false }).code;
    keep(file, code);
  }
  return code;
}

function keptAs(kind, ...texts) {
  return join(kept, `${createHash('sha1').update(texts.join('\0')).digest('hex')}.${kind}`);
}

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Other processes find all of it or nothing. */
function keep(file, content) {
  try {
    mkdirSync(kept, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, content);
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // It is compiled again where nothing can be written.
  }
}
