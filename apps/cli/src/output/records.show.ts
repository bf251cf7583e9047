import type { Context } from '../api/context';
import { kindOf, namesOf } from '../api/kinds';
import { type Cell, type Column } from './table';
import { brief, clean, when } from './text';

type Thing = Readonly<Record<string, unknown>>;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** A table of things. A column is the path of a member; ids of things that have names are shown as these. */
export async function showRows(context: Context, paths: readonly string[], rows: readonly Thing[]): Promise<void> {
  const { out } = context;
  const names = await namesIn(context, paths, rows);
  const values = rows.map((row) => paths.map((path) => path.split('.').reduce<unknown>(memberOf, row)));
  const columns = paths.map((path, index): Column => {
    const title = (kindOf(path) ?? path.split('.').at(-1)!.replaceAll('_', ' ')).toUpperCase();
    if (index === 0) return { title, whole: true };
    if (path === 'id') return { title, id: true };
    const told = values.map((row) => row[index]).filter((value) => value !== null && value !== undefined);
    if (told.length > 0 && told.every((value) => typeof value === 'number')) return { title, right: true };
    if (told.every((value) => typeof value === 'string' && TIME.test(value))) return { title, spare: true };
    return kindOf(path) ? { title, whole: true } : { title, flexible: true };
  });
  const cells = values.map((row) =>
    row.map((value, index): Cell => {
      const text = shown(value, names);
      return index === 0 ? out.cell('bold', text) : text;
    }),
  );
  out.table(columns, cells);
}

/** A thing as lines of a name and a value; `said` is told when the answer holds nothing. */
export async function showRecord(context: Context, text: string, said: string): Promise<void> {
  const { out } = context;
  const value = text === '' ? {} : parsed(text);
  if (Array.isArray(value)) return showItems(context, value);
  if (typeof value !== 'object' || value === null) return out.line(typeof value === 'string' ? value : String(value));
  const entries = Object.entries(value as Thing);
  if (entries.length === 0) return out.line(said);
  const names = await namesIn(context, Object.keys(value), [value as Thing]);
  const tables = entries.filter((entry): entry is [string, Thing[]] => isTable(entry[1]));
  out.facts(
    entries
      .filter(([, each]) => !isTable(each))
      .map(([member, each]) => [member.replaceAll('_', ' '), shown(each, names)] as const),
  );
  for (const [member, rows] of tables) {
    out.line(`\n${out.paint('bold', member.replaceAll('_', ' '))}`);
    await showRows(context, Object.keys(rows[0]!), rows);
  }
}

async function showItems(context: Context, items: readonly unknown[]): Promise<void> {
  if (isTable(items)) return showRows(context, Object.keys(items[0]!), items);
  for (const item of items) context.out.line(brief(item));
  if (items.length === 0) context.out.note('Nothing.');
}

/** Names of all the things that these members of the rows hold ids of. */
async function namesIn(
  { api }: Context,
  paths: readonly string[],
  rows: readonly Thing[],
): Promise<ReadonlyMap<string, string>> {
  const all = new Map<string, string>();
  for (const path of paths) {
    const kind = kindOf(path);
    const ids = kind ? rows.map((row) => row[path]).filter((id) => typeof id === 'string') : [];
    if (kind) for (const [id, name] of await namesOf(api, kind, ids)) all.set(id, name);
  }
  return all;
}

function shown(value: unknown, names: ReadonlyMap<string, string>): string {
  if (typeof value === 'string')
    return names.has(value) ? clean(names.get(value)!) : TIME.test(value) ? when(value) : brief(value || '-');
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
    return value.length === 0 ? '-' : value.map((each) => shown(each, names)).join(', ');
  }
  return brief(value);
}

function isTable(value: unknown): value is readonly Thing[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
  );
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Thing)[member] : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trimEnd();
  }
}
