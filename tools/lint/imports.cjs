// The files of ours that a file imports: types too, and those that it loads later.
const { readFileSync } = require('node:fs');
const ts = require('typescript');
const { resolve } = require('./resolver.cjs');

/** By path: the text that was looked at, and the imports in it. */
const known = new Map();

/** Our files that the text of a file imports, each once, in the order of the text. */
function importsIn(text, path) {
  if (known.get(path)?.text === text) return known.get(path).imports;
  const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const found = names.map((name) => resolve(name, path).path).filter((file) => file && file !== path);
  return [...new Set(found)];
}

/** Our files that a file imports; each file is read once in a process. */
function importsOf(path) {
  if (!known.has(path)) {
    const text = readFileSync(path, 'utf8');
    known.set(path, { text, imports: importsIn(text, path) });
  }
  return known.get(path).imports;
}

module.exports = { importsIn, importsOf };
