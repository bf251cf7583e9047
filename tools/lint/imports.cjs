// Which of our files a file imports: types too, and those that it loads later.
const { readFileSync } = require('node:fs');
const ts = require('typescript');
const { resolve } = require('./resolver.cjs');

const known = new Map();

/** Our files that the text of a file imports, each once, in the order of the text. */
function importsIn(text, path) {
  const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const found = names.map((name) => resolve(name, path).path).filter((file) => file && file !== path);
  return [...new Set(found)];
}

/** Our files that a file imports; each file is read once in a process. */
function importsOf(path) {
  if (!known.has(path)) known.set(path, importsIn(readFileSync(path, 'utf8'), path));
  return known.get(path);
}

module.exports = { importsIn, importsOf };
