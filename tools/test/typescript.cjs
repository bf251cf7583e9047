// Lets plain Node run the sources: `node -r ./tools/test/typescript.cjs apps/standalone/src/main.ts`. Tests start
// processes this way, so that they need no build and always run what is in the sources.
//
// A test run starts hundreds of processes that load the same two thousand modules. The first process of a program keeps
// their texts, V8's code for the functions that were called, and the file that each import named, in one pack
// (`.cache/compiled/<digest>.pack`); the next ones read this file instead of looking for the modules. A pack is used as
// long as the sources, their folders and the installed packages are those that it was made of.
const { createHash } = require('node:crypto');
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, isAbsolute, join, relative } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');
const { transform, moduleNameMapper } = require('../../jest.config.js');
const { version } = require('@swc/core/package.json');

const root = join(__dirname, '..', '..');
const kept = join(root, '.cache', 'compiled');
const PACKAGES = join(root, 'node_modules');
/** Milliseconds without a new module after which a process that goes on writes its pack. */
const AT_REST = 500;
/** Packs that are older are removed. */
const WEEK_MS = 7 * 86_400_000;
/** Fewest new modules for which a pack is written again. */
const WORTH_IT = 15;

const [sources, modules] = ['^.+\\.ts$', '^.+\\.m?js$'].map((pattern) => transform[pattern][1]);
const aliases = Object.entries(moduleNameMapper).map(([pattern, file]) => [
  new RegExp(pattern),
  file.replace('<rootDir>', root),
]);

const pack = join(
  kept,
  `${digest(process.argv[1] ?? process.execArgv.join(), stamp(join(PACKAGES, '.package-lock.json')))}.pack`,
);
const { texts, imports, stamps } = opened();
/** Scripts that this process has run, by the name of the file. */
const ran = new Map();
const found = {};
let added = 0;
let timer;

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, isMain, how) {
  const key = parent?.filename && !how ? `${dirname(parent.filename)}\0${request}` : undefined;
  const known = key && imports[key];
  if (known) return (found[key] = known);
  const alias = aliases.find(([pattern]) => pattern.test(request));
  const file = resolveFilename.call(this, alias ? request.replace(alias[0], alias[1]) : request, parent, isMain, how);
  if (key && file !== request) found[key] = file;
  return file;
};

for (const ending of ['.js', '.ts', '.mjs']) {
  const load = require.extensions[ending];
  require.extensions[ending] = (module, filename) => {
    const text = texts.get(filename);
    if (!filename.startsWith(PACKAGES)) {
      // As they were before the text was read: what is changed later is found out by the next process.
      for (const path of [filename, dirname(filename)]) stamps[relative(root, path)] ??= stamp(path);
    }
    if (text && run(module, filename, text.source(), text.code())) return;
    if (ending === '.ts') module._compile(readFileSync(filename, 'utf8'), filename, 'typescript');
    else load(module, filename);
  };
}

const compile = Module.prototype._compile;
Module.prototype._compile = function (given, filename, format) {
  // Node compiles ES modules anew in each process. Here they become what Jest makes of them.
  const options = { module: modules, typescript: sources }[format];
  const source = options ? transformed(given, filename, options) : given;
  // Node's own way knows dynamic imports, first lines that name a program, and programs of the command line.
  if (!options && (/\bimport\s*\(|^#!/.test(source) || !isAbsolute(filename)))
    return compile.call(this, source, filename, format);
  const ended = run(this, filename, source);
  return ended ? ended.result : compile.call(this, options === sources ? source : given, filename, format);
};

/** Runs a module; undefined when its text cannot be compiled, so that Node says what is wrong with it. */
function run(module, filename, source, cachedData) {
  let script;
  try {
    script = new Script(Module.wrap(source), { filename, cachedData, columnOffset: -Module.wrapper[0].length });
  } catch {
    return undefined;
  }
  ran.set(filename, { source, script });
  if (cachedData === undefined || script.cachedDataRejected) isNew();
  const require = (id) => module.require(id);
  require.resolve = (request, how) => Module._resolveFilename(request, module, false, how);
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  Object.assign(require, { main: process.mainModule, extensions: Module._extensions, cache: Module._cache });
  const body = script.runInThisContext();
  return { result: body.call(module.exports, module.exports, require, module, filename, dirname(filename)) };
}

function isNew() {
  if (++added === WORTH_IT) process.once('exit', write);
  if (added < WORTH_IT) return;
  timer ??= setTimeout(write, AT_REST).unref();
  timer.refresh();
}

/** The modules and imports of the pack, none when there is no pack or something that it was made of has changed. */
function opened() {
  const none = { texts: new Map(), imports: {}, stamps: {} };
  try {
    const content = readFileSync(pack);
    const length = content.readUInt32LE(0);
    const { files, imports, stamps } = JSON.parse(content.toString('utf8', 4, 4 + length));
    if (Object.entries(stamps).some(([path, at]) => stamp(join(root, path)) !== at)) return none;
    const part = (from, size) => content.subarray(4 + length + from, 4 + length + from + size);
    const texts = files.map(([name, encoding, at, size, codeAt, codeSize]) => [
      name,
      { source: () => part(at, size).toString(encoding), code: () => part(codeAt, codeSize) },
    ]);
    return { texts: new Map(texts), imports, stamps };
  } catch {
    return none;
  }
}

/** Writes what this process has loaded; another process finds all of it or nothing. */
function write() {
  if (added < WORTH_IT) return;
  added = 0;
  try {
    mkdirSync(kept, { recursive: true });
    writeFileSync(`${pack}.${process.pid}`, packed());
    renameSync(`${pack}.${process.pid}`, pack);
    for (const name of readdirSync(kept)) {
      const path = join(kept, name);
      if (/\.pack(\.\d+)?$/.test(name) && statSync(path).mtimeMs < Date.now() - WEEK_MS) rmSync(path, { force: true });
    }
  } catch {
    // Without a pack a process takes longer to start.
  }
}

/** The content of the pack. */
function packed() {
  const parts = [];
  let at = 0;
  const place = (part) => {
    parts.push(part);
    at += part.length;
    return [at - part.length, part.length];
  };
  const files = [];
  for (const [name, { source, script }] of ran) {
    const latin = Buffer.from(source, 'latin1');
    const encoding = latin.toString('latin1') === source ? 'latin1' : 'utf8';
    const text = encoding === 'latin1' ? latin : Buffer.from(source);
    files.push([name, encoding, ...place(text), ...place(script.createCachedData())]);
  }
  const head = Buffer.from(JSON.stringify({ files, stamps, imports: found }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, head, ...parts]);
}

/** The text that the compiler makes of a file. */
function transformed(source, filename, options) {
  const file = join(kept, `${digest(JSON.stringify(options), filename, source)}.js`);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { code } = require('@swc/core').transformSync(source, {
      ...options,
      filename,
      swcrc: false,
      sourceMaps: false,
    });
    try {
      mkdirSync(kept, { recursive: true });
      writeFileSync(`${file}.${process.pid}`, code);
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // It is compiled again where nothing can be written.
    }
    return code;
  }
}

function digest(...parts) {
  return createHash('sha1')
    .update([version, cachedDataVersionTag(), JSON.stringify([transform, moduleNameMapper]), ...parts].join('\0'))
    .digest('hex');
}

/** The time of the last change and the size. */
function stamp(path) {
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs} ${size}`;
}
