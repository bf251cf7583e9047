import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map((name) => join(ROOT, name)),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(ROOT, 'docs', name)),
];

/** The links of a page that lead to no file, or to no heading of a page. */
function brokenLinks(page: string): string[] {
  const links = [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', heading] = link.split('#');
    const target = path === '' ? page : resolve(dirname(page), path);
    return !existsSync(target) || (heading !== undefined && !headingsOf(target).has(heading));
  });
}

/** The anchors that headings of a page get: lower case, without punctuation, hyphens in place of spaces. */
function headingsOf(page: string): ReadonlySet<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, text]) => text!);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^```.*?^```$/gms, '');
}

it('every link of the documentation leads to a page and a heading that exist', () => {
  const broken = pages.flatMap((page) => brokenLinks(page).map((link) => `${relative(ROOT, page)}: ${link}`));
  expect(broken).toEqual([]);
  expect(pages.length).toBeGreaterThan(60);
});
