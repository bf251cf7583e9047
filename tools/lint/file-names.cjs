// What the endings of file names in a domain say: `thing.controller.ts`. A file without one is pure.

/** Every domain has these. */
const ENDINGS = [
  ...['events', 'schema', 'errors', 'commands', 'projection', 'queries', 'entity', 'controller', 'module'],
  ...['consumer', 'store', 'worker', 'service', 'client', 'options'],
];

/** The ending of a path: `controller` of `libs/x/src/thing.controller.ts`, undefined when it has none. */
function endingOf(path) {
  return /\.([^./\\]+)\.ts$/.exec(path)?.[1];
}

const rule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { unknown: 'No file of a domain ends with .{{ending}}.ts: see {{list}}.' },
  },
  create: (context) => ({
    Program(node) {
      const ending = endingOf(context.filename);
      if (ending === undefined || ENDINGS.includes(ending)) return;
      context.report({ node, messageId: 'unknown', data: { ending, list: 'tools/lint/file-names.cjs' } });
    },
  }),
};

module.exports = { endingOf, rule };
