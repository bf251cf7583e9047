// Tells the linter where our own imports lead, whether or not the libraries have been built.
const { existsSync } = require('node:fs');
const { dirname, join, resolve } = require('node:path');

const root = join(__dirname, '..', '..');
const SOURCE = /\.(ts|tsx|mjs|cjs)$/;

exports.interfaceVersion = 2;
exports.resolve = (source, file) => {
  const [, library, entry = ''] = /^@fairlead\/([^/]+)(\/testing)?$/.exec(source) ?? [];
  const base = library ? join(root, 'libs', library, 'src', entry) : resolve(dirname(file), source);
  if (!library && !source.startsWith('.')) return { found: false };
  const path = [base, `${base}.ts`, `${base}.tsx`, join(base, 'index.ts')].find(
    (name) => SOURCE.test(name) && existsSync(name),
  );
  return { found: path !== undefined, path: path ?? null };
};
