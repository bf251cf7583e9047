import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(__dirname, '../../../../docs/reference/clients.md');
type Language = 'Python' | 'JavaScript';

/**
 * Methods of an SDK on the page about clients: those that the tests call and that work, and the others. A row of its
 * table has the names in Python and in JavaScript, and in which of them the tests call the method.
 */
export function documented(language: Language): Readonly<Record<'works' | 'others', ReadonlySet<string>>> {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .map((line) => /^\| (`\w+`|–) +\| (`\w+`|–) +\| ([\w ]+?) +\|/.exec(line)?.slice(1))
    .filter((cells) => cells !== undefined);
  const works = new Set<string>();
  const others = new Set<string>();
  for (const [python, javascript, tested] of rows) {
    const name = (language === 'Python' ? python : javascript)!.replaceAll('`', '');
    if (name === '–') continue;
    (tested === 'both' || tested === language ? works : others).add(name);
  }
  return { works, others };
}
