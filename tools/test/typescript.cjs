// Lets plain Node run the sources: `node -r ./tools/test/typescript.cjs apps/standalone/src/main.ts`. Tests start
// processes this way, so that they need no build and always run what is in the sources.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');
const { transform, moduleNameMapper } = require('../../jest.config.js');

const root = join(__dirname, '..', '..');
const options = transform['^.+\\.ts$'][1];
const aliases = Object.entries(moduleNameMapper).map(([pattern, file]) => [
  new RegExp(pattern),
  file.replace('<rootDir>', root),
]);

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename, swcrc: false });
  module._compile(code, filename);
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const alias = aliases.find(([pattern]) => pattern.test(request));
  return resolveFilename.call(this, alias ? request.replace(alias[0], alias[1]) : request, ...rest);
};
