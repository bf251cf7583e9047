// No two files import each other, on whatever way, types included: a file can then be read, moved and tested after those
// that it imports.
const { importsIn, importsOf } = require('./imports.cjs');

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
      const way = wayTo(filename, importsIn(sourceCode.text, filename));
      if (!way) return;
      const files = [filename, ...way].map((name) => name.slice(cwd.length + 1)).join(', ');
      context.report({ node, messageId: 'circle', data: { files } });
    },
  }),
};

module.exports = { rule };
