/** The pages that have an address of their own: path, name, and the key that opens the page after `g`. */
export const PAGES = [
  ['/o/$w/experiments', 'Experiments', 'e'],
  ['/o/$w/datasets', 'Datasets', ''],
  ['/o/$w/projects', 'Traces', 't'],
  ['/o/$w/host/deployments', 'Deployments', 'd'],
  ['/o/$w/integrations', 'Connections: code hosts', ''],
  ['/o/$w/providers', 'Connections: OAuth providers', ''],
  ['/o/$w/listeners', 'Connections: listeners', ''],
  ['/o/$w/webhooks', 'Connections: webhooks', ''],
  ['/o/$w/monitors', 'Connections: monitors', ''],
  ['/o/$w/audit', 'Audit log', 'a'],
  ['/o/$w/audit/verify', 'Audit log: verify a history', ''],
  ['/o/$w/keys', 'Keys', ''],
  ['/o/$w/health', 'Health', ''],
  ['/o/$w/demo', 'Example to try things with', ''],
] as const;

type Place = (typeof PAGES)[number];
export type Path = Place[0];

/** The pages whose names have all words of a text, in the order of `PAGES`. */
export function pagesNamed(text: string): Place[] {
  const words = text.toLowerCase().split(/\s+/);
  return PAGES.filter(([, name]) => words.every((word) => name.toLowerCase().includes(word)));
}

/** A key shows the pages or the shortcuts, goes to the filter or to a page, or begins a shortcut of two keys. */
type Command = 'pages' | 'shortcuts' | 'filter' | 'begin' | Path;

const SINGLE: Readonly<Record<string, Command | undefined>> = { '/': 'filter', '?': 'shortcuts', g: 'begin' };

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Command of a pressed key; `begun` when `g` was pressed just before. */
export function commandOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Press, begun: boolean): Command | undefined {
  if (altKey) return undefined;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k' && !shiftKey ? 'pages' : undefined;
  const page = begun ? PAGES.find(([, , letter]) => letter === key) : undefined;
  return page?.[0] ?? SINGLE[key];
}
