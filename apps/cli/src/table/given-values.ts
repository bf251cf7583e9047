import type { Api } from '../api/api';
import { itemsOf, membersOf, type Schema, variants } from '../api/description';
import { idOf, kindOf } from '../api/kinds';
import { assigned } from '../body/assignments';
import { type BodyFile, bodyFile } from '../body/body-file';
import { checkMembers } from '../body/body-members';
import { Refusal, Usage } from '../failure';

type Values = Record<string, unknown>;

/** An option or argument that stands for a parameter of the query or a member of the body. */
export interface Given {
  readonly place: 'query' | 'body';
  readonly member: string;
  /** As the user writes it, such as `--event-types`. */
  readonly flag: string;
  /** Its name among the parsed options; undefined for an argument. */
  readonly attribute?: string;
}

/** Values of the options, by member of the query or the body; ids in place of names. */
export async function givenValues(
  api: Api,
  place: Given['place'],
  given: readonly Given[],
  options: Readonly<Values>,
): Promise<Values> {
  const values: Values = {};
  for (const { member, attribute } of given.filter((each) => each.place === place)) {
    const value = attribute === undefined ? undefined : options[attribute];
    if (value !== undefined) values[member] = await withIds(api, member, value);
  }
  return values;
}

async function withIds(api: Api, member: string, value: unknown): Promise<unknown> {
  const kind = kindOf(member);
  if (kind === undefined) return value;
  if (Array.isArray(value)) return Promise.all(value.map((each: string) => idOf(api, kind, each)));
  return typeof value === 'string' ? idOf(api, kind, value) : value;
}

/**
 * The JSON of a body: that of the file, changed by the assignments, changed by the options.
 * @throws Usage for members that there are not, and when nothing is given although something is needed
 */
export function bodyText(
  schema: Schema,
  { file, set }: { readonly file?: string; readonly set?: readonly string[] },
  values: Readonly<Values>,
  flags: readonly Given[],
): string {
  const holds = isList(schema) ? 'list' : 'object';
  const read: BodyFile | undefined = file === undefined ? undefined : bodyFile(file, holds);
  const sets = set === undefined ? undefined : assigned(set);
  if (read) checkMembers(read.value, schema, read.shown);
  if (sets) checkMembers(sets, schema, '--set');
  const isEmpty = Object.keys(values).length === 0;
  if (read && !sets && isEmpty) return read.json;
  if (!read && !sets && isEmpty) {
    if (holds === 'list') throw new Usage('Give the list with --file.');
    const required = variants(schema).flatMap((variant) => variant.required ?? []);
    if (required.length === 0) return '{}';
    const needed = flags.filter(({ member }) => required.includes(member)).map(({ flag }) => flag);
    throw new Usage(`Give ${needed.join(' and ')}, or the members with --set or --file.`);
  }
  return JSON.stringify(merged(merged((read?.value ?? {}) as Values, sets ?? {}), values));
}

/** True for a body that is a list, which options cannot make. */
export function isList(schema: Schema): boolean {
  return itemsOf(schema) !== undefined && membersOf(schema) === undefined;
}

function merged(base: Readonly<Values>, over: Readonly<Values>): Values {
  const result: Values = { ...base };
  for (const [member, value] of Object.entries(over)) {
    const before = Object.hasOwn(result, member) ? result[member] : undefined;
    result[member] = isObject(before) && isObject(value) ? merged(before, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error, as one of the command line when the service finds fault only with what options say. */
export function namedByOption(error: unknown, given: readonly Given[], options: Readonly<Values>): unknown {
  if (!(error instanceof Refusal) || error.status !== 422 || !Array.isArray(error.detail)) return error;
  // What is missing is an option's as well, unless a file was to say it.
  const fromFile = options.file !== undefined || options.set !== undefined;
  const said = given.filter(
    ({ attribute }) => !fromFile || attribute === undefined || options[attribute] !== undefined,
  );
  const lines = (error.detail as { loc?: unknown; msg?: unknown }[]).map(({ loc, msg }) => {
    const member = Array.isArray(loc) ? String(loc[1]) : undefined;
    const option = said.find((each) => each.member === member);
    return option && `${option.flag}: ${String(msg)}`;
  });
  return lines.length === 0 || lines.includes(undefined) ? error : new Usage(lines.join('\n'));
}
