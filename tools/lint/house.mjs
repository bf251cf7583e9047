// Prints the size of the house as a table: source lines, endings of file names, refused doc comments, circles of files,
// pairs of folders that import each other, words of documentation. Files that git does not track are not counted.
//
//   npm run house
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import docComments from './doc-comments.cjs';
import fileNames from './file-names.cjs';
import imports from './imports.cjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const NO_SERVICES = /^apps\/(cli|cluster|console|e2e)\//;

const tracked = execFileSync('git', ['ls-files', '--', 'libs', 'apps', 'tools', 'docs', '*.md'], { cwd: root })
  .toString()
  .trim()
  .split('\n');
const text = (file) => readFileSync(join(root, file), 'utf8');
const sum = (files, count) => files.reduce((total, file) => total + count(file), 0);
const lines = (file) => text(file).split('\n').length - 1;
const words = (file) => text(file).split(/\s+/).filter(Boolean).length;

const code = tracked.filter((file) => /^(libs|apps|tools)\/.*\.(ts|tsx|mjs|cjs)$/.test(file));
const counted = code.filter(
  (file) => !/\.tsx$|\.spec\.ts$|\/testing\/|\/generated\/|^apps\/(console|e2e)\//.test(file),
);

/** The doc comments of a file that lint refuses. */
function refused(file) {
  const tokens = ts.createSourceFile(file, text(file), ts.ScriptTarget.ES2023, true);
  const starts = new Set();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(tokens.text, node.pos) ?? []) {
      if (docComments.isRefused(tokens.text.slice(pos + 2, end - 2))) starts.add(pos);
    }
    node.getChildren(tokens).forEach(visit);
  };
  visit(tokens);
  return starts.size;
}

/** Endings of the files of libraries and services, with the number of files that have each. */
function endings() {
  const counts = new Map();
  for (const file of counted.filter((name) => /^(libs|apps)\/[^/]+\/src\//.test(name) && !NO_SERVICES.test(name))) {
    const ending = fileNames.endingOf(file);
    if (ending) counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  return counts;
}

/** Groups of files that all import one another, on some way. */
function circles() {
  const order = new Map();
  const low = new Map();
  const open = [];
  const found = [];
  const visit = (file) => {
    order.set(file, order.size);
    low.set(file, order.get(file));
    open.push(file);
    for (const next of imports.importsOf(file)) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) low.set(file, Math.min(low.get(file), low.get(next)));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1) found.push(group);
  };
  for (const file of code.map((name) => join(root, name))) if (!order.has(file)) visit(file);
  return found.map((group) => group.map((file) => file.slice(root.length + 1)));
}

/** Pairs of folders of one library that import each other, by library. */
function pairs() {
  const edges = new Set();
  for (const file of code.filter((name) => /^libs\//.test(name) && !/\.spec\.ts$|\/testing\//.test(name))) {
    for (const path of imports.importsOf(join(root, file))) {
      const [from, to] = [dirname(file), dirname(path.slice(root.length + 1))];
      if (from !== to && from.split('/')[1] === to.split('/')[1]) edges.add(`${from} ${to}`);
    }
  }
  return [...edges].map((edge) => edge.split(' ')).filter(([from, to]) => from < to && edges.has(`${to} ${from}`));
}

const found = endings();
const each = [...found].sort(([, a], [, b]) => b - a).map(([ending, count]) => `.${ending} ${count}`);
const groups = circles();
const mutual = pairs();
const pages = tracked.filter((file) => /^docs\/.*\.md$/.test(file) && !text(file).startsWith('<!-- Made by'));
const inExperiments = mutual.filter(([folder]) => /^libs\/(?:datasets|evaluation|experiments|runs)\//.test(folder));
const rows = [
  ['source lines', sum(counted, lines)],
  ...['libs', 'apps', 'tools'].map((folder) => [
    `source lines in ${folder}`,
    sum(
      counted.filter((file) => file.startsWith(folder)),
      lines,
    ),
  ]),
  ['endings in libs and services', found.size],
  ['refused doc comments', sum(code, refused)],
  ['circles of files', groups.length],
  ['pairs of folders that import each other', mutual.length - inExperiments.length],
  ['the same in libs/runs, datasets, experiments and evaluation', inExperiments.length],
  ['words of docs, README and CONTRIBUTING', sum([...pages, 'README.md', 'CONTRIBUTING.md'], words)],
  [
    'words of decision records among them',
    sum(
      pages.filter((file) => file.startsWith('docs/decisions/')),
      words,
    ),
  ],
];

console.log('| measure | count |\n| --- | ---: |');
for (const [name, count] of rows) console.log(`| ${name} | ${count} |`);
console.log(`\nendings: ${each.join(', ')}`);
for (const group of groups) console.log(`circle: ${group.join(', ')}`);
for (const [from, to] of mutual) console.log(`pair: ${from} and ${to}`);
