// No two files import each other, on whatever way, types included: a file can then be read, moved and tested after those
// that it imports.
const { existsSync } = require('node:fs');
const { importsIn, importsOf } = require('./imports.cjs');

/** Files from which no way leads into a circle. */
const free = new Set();

/** True when no way from a file leads into a circle; false when one does, or when this is not known while it is sought. */
function isFree(file, sought = new Set()) {
  if (free.has(file)) return true;
  if (sought.has(file)) return false;
  sought.add(file);
  const imports = importsOf(file).map((next) => isFree(next, sought));
  if (imports.every(Boolean)) free.add(file);
  return free.has(file);
}

/** The files on the shortest way from one of some files to another one, both included; undefined when there is none. */
function wayTo(target, starts) {
  const before = new Map(starts.map((file) => [file, undefined]));
  for (const file of before.keys()) {
    if (file === target) return pathTo(file, before);
    for (const next of importsOf(file)) if (!before.has(next)) before.set(next, file);
  }
  return undefined;
}

function pathTo(file, before) {
  return file === undefined ? [] : [...pathTo(before.get(file), before), file];
}

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { circle: 'These files import one another in a circle: {{files}}.' },
  },
  create: (context) => ({
    Program(node) {
      const { cwd, filename, sourceCode } = context;
      const imports = importsIn(sourceCode.text, filename);
      // Most files are in no circle, which one walk over all of them shows; only the others are looked at one by one.
      if (existsSync(filename) && imports === importsOf(filename) && isFree(filename)) return;
      const way = wayTo(filename, imports);
      if (!way) return;
      const files = [filename, ...way].map((name) => name.slice(cwd.length + 1)).join(', ');
      context.report({ node, messageId: 'circle', data: { files } });
    },
  }),
};

module.exports = { rule };
