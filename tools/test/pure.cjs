// Tells which specs start no server, process or database: `npm run test:pure` runs these.
//
// A spec starts something when it imports one of STARTERS, or imports a name from a file of a testing folder that does;
// names that an index exports are followed to the files that declare them. A spec that starts something in another way
// says so with a line `// @starts <what>`. A guard (guard.cjs) checks the others while they run.
const { readFileSync } = require('node:fs');
const { resolve } = require('../lint/resolver.cjs');

const STARTERS =
  /^(@fairlead\/(e2e\/testing|kafka|standalone)|@grpc\/grpc-js|@nestjs\/(core|testing)|fastify|node:(child_process|cluster|dgram|http|http2|https|net|worker_threads)|pg|pg-.+|playwright-core|typeorm|undici)$/;
const MARK = /^\/\/ @starts \w/m;
const TESTING = /[/\\]testing[/\\]|\.spec\.ts$/;
/** Imports and exports of values from other files: whether they are exported, their names (none: all), and from where. */
const STATEMENT = /^(import|export)\s+(?!type\b)([^;'"]*?)\s*(?:from\s*)?['"]([^'"]+)['"]/gm;
const LATER = /\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/g;

const read = new Map();
const verdicts = new Map();

function parsed(path) {
  if (!read.has(path)) {
    const text = readFileSync(path, 'utf8');
    const found = [...text.matchAll(STATEMENT)].map(([, kind, what, from]) => {
      const list = /^\{([^}]*)\}$/.exec(what)?.[1].split(',');
      const names = list?.map((name) => name.trim()).filter((name) => name && !name.startsWith('type '));
      return { exported: kind === 'export', names: names?.map((name) => name.split(/\s+as\s+/)[0]), from };
    });
    found.push(...[...text.matchAll(LATER)].map(([, from]) => ({ exported: false, names: undefined, from })));
    read.set(path, { text, found: found.filter(({ names }) => names?.length !== 0) });
  }
  return read.get(path);
}

/** The file that declares a name that `path` exports; undefined when no file of ours does. */
function declaring(path, name, passed = new Set()) {
  if (passed.has(path)) return undefined;
  passed.add(path);
  const { text, found } = parsed(path);
  if (new RegExp(`^export (?:declare |abstract |async )*\\w+\\*? ${name}\\b`, 'm').test(text)) return path;
  for (const { exported, names, from } of found) {
    const next = exported && (names?.includes(name) ?? true) ? resolve(from, path).path : undefined;
    const file = next ? declaring(next, name, passed) : undefined;
    if (file) return file;
  }
  return undefined;
}

/** The import by which a spec or a file of a testing folder starts something; undefined when it starts nothing. */
function starter(path) {
  if (!verdicts.has(path)) {
    verdicts.set(path, undefined);
    verdicts.set(path, MARK.test(parsed(path).text) ? '@starts' : importedStarter(path));
  }
  return verdicts.get(path);
}

function importedStarter(path) {
  for (const { names, from } of parsed(path).found) {
    if (STARTERS.test(from)) return from;
    const file = resolve(from, path).path;
    for (const next of file ? (names?.map((name) => declaring(file, name) ?? file) ?? [file]) : []) {
      if (TESTING.test(next) ? starter(next) : TESTING.test(path) && startsItself(path, next)) return from;
    }
  }
  return undefined;
}

/** True when a file of a testing folder imports a source of libs/postgres that imports the client of the database. */
function startsItself(path, source) {
  return (
    !path.endsWith('.spec.ts') &&
    /postgres[/\\]src[/\\]/.test(source) &&
    parsed(source).found.some(({ from }) => from === 'pg')
  );
}

module.exports = { isPure: (path) => starter(path) === undefined };
