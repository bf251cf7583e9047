// The runtime of Jest, except that a process compiles each file once, not once for every test file that loads it.
// Every test file still runs the code anew in a context of its own: only V8's compiled form is shared.
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/** By the name of the file. */
const compiled = new Map();
/** These need the callback that Jest gives each compilation, or cannot stand inside a function. */
const UNSHARED = /\bimport\s*\(|^#!/;

module.exports = class extends Runtime {
  constructor(...options) {
    super(...options);
    const { executor, _environment: environment } = this;
    const compile = executor.compile.bind(executor);
    executor.compile = (source, filename) => {
      const context = environment.getVmContext();
      if (context === null || filename.endsWith('.spec.ts') || UNSHARED.test(source)) return compile(source, filename);
      let known = compiled.get(filename);
      if (known?.source !== source) {
        const begin = `(function(${executor.injectedModuleParameters}){`;
        try {
          const script = new Script(`${begin}${source}\n})`, { filename, columnOffset: -begin.length });
          known = { source, script };
        } catch {
          // Jest says what is wrong with it.
          return compile(source, filename);
        }
        compiled.set(filename, known);
      }
      return known.script.runInContext(context);
    };
  }
};
module.exports.default = module.exports;
