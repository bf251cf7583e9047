// `node tools/reference/reference.mjs`: writes docs/reference from the OpenAPI document of a running service and from its settings.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { apiPages } from './pages.mjs';

const FOLDER = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../docs/reference');
const SETTINGS = 'settings.md';
const MADE = '<!-- Made by `node tools/reference/reference.mjs`';
const { FAIRLEAD_URL = 'http://127.0.0.1:4600' } = process.env;
const checks = process.argv.includes('--check');

const response = await fetch(`${FAIRLEAD_URL}/openapi.json`);
if (!response.ok) throw new Error(`${FAIRLEAD_URL}/openapi.json answered ${response.status}.`);
const pages = apiPages(await response.json());

if (checks) {
  const wrong = differences();
  for (const page of wrong) console.error(`docs/reference/${page} is not what \`npm run reference\` makes.`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} else {
  // The settings are part of what `npm run build` makes.
  const { settingsPage } = createRequire(import.meta.url)('../../libs/service/dist/settings/settings-page.js');
  for (const file of madePages()) rmSync(join(FOLDER, file));
  for (const [file, text] of Object.entries({ ...pages, [SETTINGS]: settingsPage() })) {
    writeFileSync(join(FOLDER, file), text);
  }
}

/** The files of the folder that this tool has made; the others are written by hand. */
function madePages() {
  return readdirSync(FOLDER).filter((file) => readFileSync(join(FOLDER, file), 'utf8').startsWith(MADE));
}

/** The pages about the API that are missing, differ, or should not be there. */
function differences() {
  const there = madePages().filter((file) => file !== SETTINGS);
  const names = new Set([...there, ...Object.keys(pages)]);
  return [...names].filter((file) => {
    return !there.includes(file) || pages[file] !== readFileSync(join(FOLDER, file), 'utf8');
  });
}
