import { type Command, InvalidArgumentError } from 'commander';
import { assigned } from '../body/assignments';
import { bodyFile } from '../body/body-file';
import { reasonHeader } from '../api/api';
import { does } from '../api/context';
import { collect } from '../api/lists';
import { Usage } from '../failure';
import { examples } from '../output/help';
import { save } from '../upload/saved';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface ApiOptions {
  readonly query?: string[];
  readonly file?: string;
  readonly set?: string[];
  readonly reason?: string;
  readonly output?: string;
}

/** `api` sends a request of any route, with the address and the key that all commands use. */
export function addApi(all: Command): void {
  const command = all
    .command('api')
    .description('send a request to the API and print the response')
    .argument('<method>', METHODS.join(', '), method)
    .argument('<path>', 'such as /v2/deployments')
    .option('-q, --query <name=value>', 'a parameter of the query, repeatable', collect)
    .option('-f, --file <file>', 'JSON or YAML of the body; - reads standard input')
    .option('--set <member=value>', 'one member of the body, repeatable; the value is JSON or else text', collect)
    .option('--reason <text>', 'why, for the history')
    .option('-o, --output <file>', 'where to (default: standard output)');
  examples(
    command,
    'api GET /v2/deployments -q limit=5',
    'api PATCH /api/v1/sessions/0198c1f0-0000-7000-8000-000000000001 --set description=nightly',
    "api GET /api/v1/info --jq '.version'",
  );
  does<ApiOptions>(command, async (context, [method, path], options) => {
    if (!path!.startsWith('/')) throw new Usage(`${path} is no path: it begins with /, such as /v2/deployments.`);
    const query: Record<string, string[]> = {};
    for (const text of options.query ?? []) {
      const equals = text.indexOf('=');
      if (equals < 1) throw new Usage(`--query ${text}: write name=value.`);
      (query[text.slice(0, equals)] ??= []).push(text.slice(equals + 1));
    }
    const headers = reasonHeader(options.reason);
    const body = bodyOf(options);
    const answer = await context.api.open({ method: method!, path: path!, query, body, headers, anyType: true });
    await save(context, answer, options.output);
    if (process.stdout.isTTY && options.output === undefined && !context.out.filters) context.out.line();
  });
}

function bodyOf({ file, set }: ApiOptions): string | undefined {
  if (set === undefined) return file === undefined ? undefined : bodyFile(file, 'any').json;
  if (file === undefined) return JSON.stringify(assigned(set));
  return JSON.stringify({ ...(bodyFile(file).value as object), ...assigned(set) });
}

function method(text: string): string {
  const word = text.toUpperCase();
  if (METHODS.includes(word)) return word;
  throw new InvalidArgumentError(`It is one of ${METHODS.join(', ')}.`);
}
