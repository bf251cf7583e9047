import { type Command, InvalidArgumentError, Option } from 'commander';
import { membersOf, type Operation, operationOf, pathNames, type Schema } from '../api/description';
import type { Query } from '../api/api';
import { type Context, does } from '../api/context';
import { kindOf } from '../api/kinds';
import { examples } from '../output/help';
import { collect, listOptions } from '../api/lists';
import { type Given, givenValues, isList } from './given-values';
import { optionValue } from './option-values';
import { type Line, runLine } from './run-line';

/** Commands with the same first word. */
export interface Group {
  readonly name: string;
  readonly alias?: string;
  readonly about: string;
  readonly lines: Readonly<Record<string, Line>>;
}

/** Parameters that the program sets itself when it reads page after page. */
const PAGING = ['limit', 'offset', 'count', 'cursor', 'after'];
/** Options that every command has, or that have a meaning of their own. */
const TAKEN = new Set(
  'url key workspace json jq timeout color version help limit all yes reason if-match file set output wait'.split(' '),
);
/** Filters that have a shorter name. */
const FILTERS: Readonly<Record<string, string>> = { name_contains: 'name', reference_dataset: 'dataset' };
const SINGULAR: Readonly<Record<string, string>> = { feedback: 'feedback', datasets: 'dataset' };

const routes = new WeakMap<Command, readonly string[]>();

/** Says which routes of the API a command calls. */
export function reaches(command: Command, ...called: readonly string[]): Command {
  routes.set(command, called);
  return command;
}

/** The routes that a command says it calls. */
export function reachedBy(command: Command): readonly string[] {
  return routes.get(command) ?? [];
}

/** Adds a group with its commands; more can be added to what is given back. */
export function addGroup(all: Command, { name, alias, about, lines }: Group): Command {
  const group = all.command(name).description(about);
  if (alias !== undefined) group.alias(alias);
  addLines(group, lines);
  return group;
}

export function addLines(group: Command, lines: Readonly<Record<string, Line>>): void {
  for (const [word, line] of Object.entries(lines)) addLine(group, word, line);
}

function addLine(group: Command, word: string, line: Line): void {
  const operation = operationOf(line.route);
  const command = group.command(word).description(line.about ?? lowered(operation.summary));
  if (word === 'list') command.alias('ls');
  const noun = SINGULAR[group.name()] ?? group.name().replace(/s$/, '');
  for (const name of pathNames(line.route)) {
    const kind = kindOf(name);
    command.argument(`<${kind ?? dashed(name.replace(/_id$/, ''))}>`, kind ? 'id or name' : undefined);
  }
  for (const name of line.args ?? []) command.argument(`<${dashed(name)}>`);
  const given = [...addQuery(command, operation, line, noun), ...addBody(command, operation, noun)];
  addUsual(command, line, operation);
  examples(command, `${group.name()} ${word} ${line.example ?? ''}`);
  const built = { ...line, word, noun, operation, given };
  reaches(command, line.route);
  does<Record<string, unknown>>(command, (context, args, options) => runLine(context, built, args, options));
}

/** Options for the parameters of a query, except `without`. */
function addQuery(command: Command, operation: Operation, line: Pick<Line, 'args'>, noun: string): Given[] {
  const parameters = (operation.query ?? []).filter(({ name }) => !PAGING.includes(name));
  const holds = parameters.some(({ name }) => name === 'name_contains');
  return parameters.map(({ name, schema, description, required }) => {
    if (line.args?.includes(name)) return { place: 'query', member: name, flag: `<${dashed(name)}>` };
    const long = name === 'name' && holds ? 'exact-name' : (FILTERS[name] ?? dashed(name));
    const option = memberOption(name, { ...schema, description }, noun, long);
    command.addOption(required ? option.makeOptionMandatory() : option);
    return { place: 'query', member: name, flag: option.long!, attribute: option.attributeName() };
  });
}

interface Narrowed {
  /** Parameters that the command has options of its own for. */
  readonly without?: readonly string[];
  /** Words of parameters that the API takes any text for. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
}

function narrowed(schema: Schema, words: readonly string[] | undefined): Schema {
  if (words === undefined) return schema;
  const word: Schema = { type: 'string', enum: words };
  return schema.type === 'array' ? { type: 'array', items: word } : word;
}

/**
 * Gives a command the options of a list of the API, its filters and paging. What is given back reads them: the query that
 * they make.
 */
export function filters(command: Command, route: string, noun: string, { without = [], words = {} }: Narrowed = {}) {
  const { query = [], ...operation } = operationOf(route);
  const offered = {
    ...operation,
    query: query
      .filter(({ name }) => !without.includes(name))
      .map((parameter) => ({ ...parameter, schema: narrowed(parameter.schema, words[parameter.name]) })),
  };
  const given = addQuery(command, offered, {}, noun);
  listOptions(reaches(command, route));
  return async ({ api }: Context, options: object) =>
    (await givenValues(api, 'query', given, options as Record<string, unknown>)) as Query;
}

/** Options for the members of a body, and for what holds a body: files and assignments. */
export function addBody(command: Command, { body }: Operation, noun: string): Given[] {
  if (!body) return [];
  const members = Object.entries(membersOf(body) ?? {}).filter(([name]) => !PAGING.includes(name));
  const given = members.map(([name, schema]): Given => {
    const option = memberOption(name, schema, noun);
    command.addOption(option);
    return { place: 'body', member: name, flag: option.long!, attribute: option.attributeName() };
  });
  command.option(
    '-f, --file <file>',
    `JSON or YAML with ${isList(body) ? 'a list' : 'these members'}; - reads standard input`,
  );
  if (isList(body)) return [];
  command.option('--set <member=value>', 'one member, repeatable; the value is JSON or else text', collect);
  return given;
}

function memberOption(name: string, schema: Schema, noun: string, wanted = dashed(name)): Option {
  const long = TAKEN.has(wanted) ? `${noun}-${wanted}` : wanted;
  const { placeholder, choices, many, parse } = optionValue(name, schema);
  const isSwitch = choices?.join() === 'true,false';
  const text = [firstSentence(schema.description), many ? 'repeatable' : ''];
  const option = new Option(
    `--${long} ${isSwitch ? '[true|false]' : `<${placeholder}>`}`,
    text.filter((part) => part !== '').join('; '),
  );
  option.argParser<unknown>((value, before) =>
    many ? [...((before as unknown[] | undefined) ?? []), parse(value)].flat() : parse(value),
  );
  // Help and completion tell them; the parser above refuses others.
  option.argChoices = isSwitch ? undefined : choices && [...choices];
  return option;
}

function addUsual(command: Command, line: Line, { headers, query, body }: Operation): void {
  const parameters = [...(query ?? []).map(({ name }) => name), ...Object.keys((body && membersOf(body)) ?? {})];
  if (parameters.includes('limit')) listOptions(command);
  if (line.route.startsWith('DELETE ')) command.option('--yes', 'do not ask');
  if (headers?.includes('x-reason')) command.option('--reason <text>', 'why, for the history');
  if (headers?.includes('If-Match')) command.option('--if-match <edition>', 'only when this is its edition', edition);
  if (line.saves) command.option('-o, --output <file>', 'where to (default: standard output)');
}

/** The edition of a resource as its header has it. */
export function edition(text: string): string {
  const number = /^"?(\d{1,15})"?$/.exec(text.trim())?.[1];
  if (number !== undefined) return `"${number}"`;
  throw new InvalidArgumentError('It is a number, which "get" shows as the edition.');
}

function firstSentence(text: string | undefined): string {
  return lowered(
    (text ?? '')
      .split(/(?<=[a-z`)])[.;:] /)[0]!
      .replace(/\.$/, '')
      .replaceAll('`', ''),
  );
}

/** With a small first letter, unless it begins with an abbreviation. */
function lowered(text: string): string {
  return /^[A-Z](?:[a-z]|\s)/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function dashed(member: string): string {
  return member.replaceAll('_', '-');
}
