// The runtime of Jest, with three differences that make a run of many test files quicker.
//
// A process compiles each file once, not once for every test file that loads it. Every test file still runs the code
// anew in a context of its own: only V8's compiled form is shared.
//
// A process transforms each file, and finds the one that an import names, once, unless the file has changed since. Jest
// would read its text, and put the options of all transforms together, for every test file that loads it.
//
// The instances of AsyncLocalStorage that a test file has made are disabled when the file has ended. Node would carry
// each of them along with every promise until the process ends, which takes longer with every test file.
const { statSync } = require('node:fs');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/** By the name of the file; without a script for one that Jest must compile itself. */
const compiled = new Map();
/** Texts of the modules of Jest itself, by the name of the file. */
const internal = new Map();
/** By the name of the file: the time of its last change, and what the transform made of it. */
const transformed = new Map();
/** The file of each import, which Jest would look for anew for every test file. */
const resolved = new Map();
/** These need the callback that Jest gives each compilation, or cannot stand inside a function. */
const UNSHARED = /\bimport\s*\(|^#!/;

module.exports = class extends Runtime {
  constructor(...options) {
    super(...options);
    this.shareCompiled();
    this.shareRead();
    this.storages = [];
    this.watchStorages();
  }

  teardown() {
    super.teardown();
    for (const storage of this.storages) storage.disable();
  }

  shareCompiled() {
    const { executor, _environment: environment } = this;
    const compile = executor.compile.bind(executor);
    executor.compile = (source, filename) => {
      const context = environment.getVmContext();
      if (context === null || filename.endsWith('.spec.ts')) return compile(source, filename);
      let known = compiled.get(filename);
      if (known?.source !== source) {
        known = { source, script: UNSHARED.test(source) ? undefined : this.scriptOf(source, filename) };
        compiled.set(filename, known);
      }
      return known.script ? known.script.runInContext(context) : compile(source, filename);
    };
  }

  shareRead() {
    const { transformCache: cache, _resolution: resolution } = this;
    const transform = cache.transform.bind(cache);
    cache.transform = (filename, options) => {
      if (options?.isInternalModule) {
        if (!internal.has(filename)) internal.set(filename, transform(filename, options));
        return internal.get(filename);
      }
      const changed = statSync(filename).mtimeMs;
      const known = transformed.get(filename);
      const file =
        known?.changed === changed && known.asModule === options?.supportsStaticESM
          ? known.file
          : cache.scriptTransformer.transform(filename, cache.getFullTransformationOptions(options));
      transformed.set(filename, { changed, asModule: options?.supportsStaticESM, file });
      cache.transforms.set(filename, file);
      if (file.sourceMapPath) cache.sourceMaps.set(filename, file.sourceMapPath);
      return file.code;
    };
    resolution.cjsCache = { get: (key) => resolved.get(key), set: (key, file) => resolved.set(key, file), clear() {} };
  }

  /** Undefined when it cannot be compiled: Jest says what is wrong with it. */
  scriptOf(source, filename) {
    const begin = `(function(${this.executor.injectedModuleParameters}){`;
    try {
      return new Script(`${begin}${source}\n})`, { filename, columnOffset: -begin.length });
    } catch {
      return undefined;
    }
  }

  watchStorages() {
    const { coreModule, storages } = this;
    const load = coreModule.require.bind(coreModule);
    let watched;
    coreModule.require = (name, ...rest) => {
      const loaded = load(name, ...rest);
      if (!/^(node:)?async_hooks$/.test(name)) return loaded;
      watched ??= {
        ...loaded,
        AsyncLocalStorage: class AsyncLocalStorage extends loaded.AsyncLocalStorage {
          constructor(...given) {
            super(...given);
            storages.push(this);
          }
        },
      };
      return watched;
    };
  }
};
module.exports.default = module.exports;
