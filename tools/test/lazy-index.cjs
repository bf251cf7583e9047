// Compiles the index of a library for the tests so that a file is loaded only when one of its exports is used: the spec
// of a pure function would otherwise load the database, Kafka and the framework that stand behind the same index.
const { createHash } = require('node:crypto');
const { readFileSync, statSync } = require('node:fs');
const { createTransformer } = require('@swc/jest');
const { resolve } = require('../lint/resolver.cjs');

const FROM = /^export (\*|(type )?\{([^}]*)\}) from '(\.[^']+)';$/gm;
const DECLARED = /^export (?:declare |abstract |async )*(?:const|let|var|function\*?|class|enum) (\w+)/gm;
const LISTED = /^export \{([^}]*)\};$/gm;

const known = new Map();

/** The values that a file exports. */
function namesOf(path) {
  const changed = statSync(path).mtimeMs;
  const earlier = known.get(path);
  if (earlier?.changed === changed) return earlier.names;
  const source = readFileSync(path, 'utf8');
  const declared = [...source.matchAll(DECLARED)].map(([, name]) => name);
  const listed = [...source.matchAll(LISTED)].flatMap(([, list]) => valuesIn(list).map(([, name]) => name));
  const names = [...declared, ...listed, ...reexportsOf(source, path).map(({ name }) => name)];
  known.set(path, { changed, names });
  return names;
}

/** Pairs of the name in the other file and the name in this one; types are left out. */
function valuesIn(list) {
  const parts = list.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => part.split(' as '))
    .map(([from, name = from]) => [from, name]);
}

/** The values that a file exports from others: name, name there, and the other file. */
function reexportsOf(source, path) {
  return [...source.matchAll(FROM)].flatMap(([, what, isType, list, file]) => {
    if (isType) return [];
    const values = what === '*' ? namesOf(resolve(file, path).path).map((name) => [name, name]) : valuesIn(list);
    return values.map(([from, name]) => ({ name, from, file }));
  });
}

/** True when a file only exports from other files of its library. */
function isIndex(source) {
  return source.replace(FROM, '').trim() === '';
}

function compiled(source, path) {
  const getters = reexportsOf(source, path).map(
    ({ name, from, file }) => `get ${name}() { return require('${file}').${from}; },`,
  );
  return `module.exports = {\n__esModule: true,\n${getters.join('\n')}\n};`;
}

module.exports = {
  createTransformer(options) {
    const whole = createTransformer(options);
    return {
      canInstrument: false,
      getCacheKey(source, path, given) {
        const key = whole.getCacheKey(source, path, given);
        if (!isIndex(source)) return key;
        return createHash('sha256')
          .update(`lazy ${key} ${compiled(source, path)}`)
          .digest('hex');
      },
      process(source, path, given) {
        return isIndex(source) ? { code: compiled(source, path) } : whole.process(source, path, given);
      },
    };
  },
};
