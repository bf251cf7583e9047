import { type Call, type Query, reasonHeader } from '../api/api';
import type { Context } from '../api/context';
import { membersOf, type Operation, pathNames } from '../api/description';
import { idOf, kindOf } from '../api/kinds';
import { listed, type ListOptions, type PageQuery } from '../api/lists';
import { confirm } from '../output/confirm';
import { showRecord, showRows } from '../output/records.show';
import { save } from '../upload/saved';
import { bodyText, type Given, givenValues, namedByOption } from './given-values';

/** One command: the route that it calls and how the answer is shown. */
export interface Line {
  /** Method and path, as the description of the API has them. */
  readonly route: string;
  /** Arguments and options of the example in its help. */
  readonly example?: string;
  /** Summary of the command; by default the summary of the route in the API. */
  readonly about?: string;
  /** Members of the query that are written as arguments. */
  readonly args?: readonly string[];
  /** Members of the items of a list that a table shows; the first one is the name and is never shortened. */
  readonly columns?: readonly string[];
  /** The answer is a file: `-o` says where it goes. */
  readonly saves?: boolean;
  /** An answer that asks to come again later is shown as it is. */
  readonly once?: boolean;
}

/** A command of the table with all that its options stand for. */
interface Built extends Line {
  readonly noun: string;
  readonly word: string;
  readonly operation: Operation;
  readonly given: readonly Given[];
}

type Options = Readonly<Record<string, unknown>> & ListOptions;

/** Calls the route of a command and shows what it answers. */
export async function runLine(context: Context, built: Built, args: string[], options: Options): Promise<void> {
  try {
    await run(context, built, args, options);
  } catch (error) {
    throw namedByOption(error, built.given, options);
  }
}

async function run(context: Context, built: Built, args: string[], options: Options): Promise<void> {
  const { operation, given, word, noun, route } = built;
  const { api, out } = context;
  const method = route.split(' ', 1)[0]!;
  const names = pathNames(route);
  const body = operation.body && (await bodyOf(context, built, options));
  if (method === 'DELETE') await confirm(context, question(built, args), options.yes as boolean | undefined);
  let path = route.slice(method.length + 1);
  for (const [index, name] of names.entries()) {
    const kind = kindOf(name);
    const id = kind ? await idOf(api, kind, args[index]!) : args[index]!;
    path = path.replace(`{${name}}`, encodeURIComponent(id));
  }
  const query = { ...(await givenValues(api, 'query', given, options)) } as Record<string, string>;
  for (const [index, name] of (built.args ?? []).entries()) query[name] = args[names.length + index]!;
  // The service holds the answer back until something happens.
  const holds = operation.query?.some(({ name }) => name === 'timeout');
  if (holds) query.timeout ??= '30';
  const headers = { ...reasonHeader(options.reason as string | undefined), ...ifMatch(options.ifMatch) };
  const repeatable = method !== 'POST' || built.columns !== undefined;
  const call: Call = {
    method,
    path,
    query,
    body,
    headers,
    repeatable,
    once: built.once,
    patience: Number(query.timeout ?? 0) * 1000,
  };
  if (built.saves) return save(context, await api.open(call), options.output as string | undefined);
  if (built.columns) return showList(context, built, call, options);
  const { text } = operation.headers?.includes('Idempotency-Key') ? await api.command(call) : await api.send(call);
  if (out.json) return text === '' ? undefined : out.text(text);
  const said = method === 'DELETE' ? `Removed the ${noun} ${args.at(-1) ?? ''}`.trim() : `Done: ${noun} ${word}`;
  await showRecord(context, text, `${said}.`);
}

async function bodyOf({ api }: Context, { operation, given }: Built, options: Options): Promise<string> {
  const values = await givenValues(api, 'body', given, options);
  return bodyText(operation.body!, options as { file?: string; set?: string[] }, values, given);
}

function question({ noun, operation, route }: Built, args: readonly string[]): string {
  if (pathNames(route).length === 0) return `${operation.summary}.`;
  return `This removes the ${noun} ${args.at(-1)} for good.`;
}

async function showList(context: Context, built: Built, call: Call, options: Options): Promise<void> {
  const { operation, columns, word } = built;
  const { api, out } = context;
  const inBody = call.method === 'POST';
  const read = async (page: PageQuery, count?: true) => {
    const members = pagingOf(built, { ...page, count });
    const body = inBody ? JSON.stringify({ ...(JSON.parse(call.body as string) as object), ...members }) : undefined;
    const query = inBody ? call.query : { ...call.query, ...members };
    return api.send({ ...call, body, query: query as Query });
  };
  const { items, json } = await listed<Record<string, unknown>>(context, options, read, isPaged(built));
  if (out.json) return out.text(json);
  if (items.length > 0) return showRows(context, columns!, items);
  const things = word === 'list' ? operation.summary.replace(/^List (?:the )?/, '') : word.replaceAll('-', ' ');
  out.note(/^(?:what|the) /.test(things) ? 'Nothing.' : `No ${things}.`);
}

/** Parameters of a page that the route takes. */
function pagingOf(built: Built, page: PageQuery & { readonly count?: true }): Record<string, unknown> {
  const taken = parameters(built);
  const entries = Object.entries({ ...page, after: page.cursor }).filter(([name]) => taken.has(name));
  return Object.fromEntries(entries.filter(([name]) => name !== 'offset' || page.cursor === undefined));
}

function isPaged(built: Built): boolean {
  return parameters(built).has('limit');
}

function parameters({ operation }: Built): Set<string> {
  return new Set([
    ...(operation.query ?? []).map(({ name }) => name),
    ...Object.keys((operation.body && membersOf(operation.body)) ?? {}),
  ]);
}

function ifMatch(edition: unknown): Record<string, string> {
  return typeof edition === 'string' ? { 'if-match': edition } : {};
}
