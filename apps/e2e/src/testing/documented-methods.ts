import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(__dirname, '../../../../docs/reference/clients.md');
type Language = 'Python' | 'JavaScript';

/**
 * Methods of an SDK on the page about clients: those that the tests call and that work, and the others. A list of the
 * page says which SDKs have its methods, and in which of them the tests call them; the lists of refused methods follow.
 */
export function documented(language: Language): Readonly<Record<'works' | 'others', ReadonlySet<string>>> {
  const [, served = '', refused = ''] =
    /^### Method by method\n(.*?)^These are answered \[501\][^\n]*\n(.*?)^## /ms.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const works = new Set<string>();
  const others = new Set<string>();
  const add = (to: Set<string>, owner: string, methods: string) => {
    if (owner === 'Both SDKs' || owner === `${language} only`)
      for (const name of namesIn(methods, language)) to.add(name);
  };
  for (const [, owner, tested, methods] of served.matchAll(/^- \*\*([\w ]+), ([\w ]+)\*\*: (.+)\.$/gm)) {
    const isTested = tested === 'tested' || tested === 'tested in both' || tested === `tested in ${language}`;
    add(isTested ? works : others, owner!, methods!);
  }
  for (const [, lists] of refused.matchAll(/^- [\w ]+: (.+)\.$/gm)) {
    for (const list of lists!.split('; ')) {
      const [, owner = 'Both SDKs', methods] = /^(?:(\w+ only): )?(.+)$/.exec(list)!;
      add(others, owner, methods!);
    }
  }
  return { works, others };
}

/** The names in a list; that of JavaScript is in parentheses where it is not the one of Python in camel case. */
function namesIn(list: string, language: Language): string[] {
  return list.split(', ').map((entry) => {
    const [, name, other] = /^`(\w+)`(?: \(`(\w+)`\))?$/.exec(entry)!;
    return language === 'Python'
      ? name!
      : (other ?? name!.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
  });
}
