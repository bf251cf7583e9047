import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { filesIn, root } from './testing/files';

const SETTING = /\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g;
const files = ['apps', 'docker', 'libs', 'tools'].flatMap((folder) =>
  filesIn(folder, /\.([cm]?[jt]s|yml)$|Dockerfile$/),
);
const names = new Set(files.map((file) => basename(file)));
const words = new Set(
  files
    .filter((file) => !file.startsWith('tools/lint/'))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').match(SETTING) ?? []),
);
/** Names that belong to other programs: an error of EventStoreDB, variables of the LangGraph command line and of Uvicorn. */
const FOREIGN = ['PERMISSION_DENIED', 'LANGGRAPH_HOST_API_KEY', 'UVICORN_ROOT_PATH'];

function isMissing(name: string): boolean {
  if (name.includes('/')) return !existsSync(join(root, name));
  if (name.includes('.')) return !names.has(name);
  // A setting may be read from a file.
  return !words.has(name) && !words.has(name.replace(/_FILE$/, '')) && !FOREIGN.includes(name);
}

/** The paths and files that the prose of a page names as code, and the settings that the page names, that do not exist. */
function unknownIn(page: string): string[] {
  // A proposed decision names what is to come.
  if (/^\d{4}-\d\d-\d\d · proposed/m.test(page)) return [];
  const spans = [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
  const isFile = (span: string) =>
    /^(?:apps|docker|docs|libs|tools)\/[\w./-]+$|^\w[\w.-]*(?:-[\w.]+|\.\w+)\.(?:[cm]?ts|[cm]js)$/.test(span);
  return [...spans.filter(isFile), ...(page.match(SETTING) ?? [])].filter(isMissing);
}

it('every path, file and setting that a page names exists', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...filesIn('docs', /\.md$/)];
  const missing = pages.flatMap((page) =>
    unknownIn(readFileSync(join(root, page), 'utf8')).map((name) => `${page}: ${name}`),
  );
  expect(missing).toEqual([]);
  expect(pages.length).toBeGreaterThan(90);
});

it('finds what does not exist', () => {
  const page =
    '`libs/nowhere/src`, `libs/schema/`, `no-such-file.spec.ts`, `handle.ts`, `NO_SUCH_SETTING=1`, `LOG_LEVEL`';
  expect(unknownIn(page)).toEqual(['libs/nowhere/src', 'no-such-file.spec.ts', 'NO_SUCH_SETTING']);
  expect(unknownIn('# 1. A title\n\n2026-11-26 · proposed\n\n`libs/to-come`')).toEqual([]);
});
