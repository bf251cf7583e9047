import { examples } from '../output/help';
import type { Command } from 'commander';
import { confirm } from '../output/confirm';
import { type Context, does } from '../api/context';
import { Usage } from '../failure';
import { profileFile } from '../api/profile';
import { keep } from './login.commands';
import type { ApiKey } from '../api/records';
import { clean, when } from '../output/text';
import { idOf } from '../api/kinds';
import { time } from '../api/lists';
import { reaches } from '../table/group';

interface CreateOptions {
  readonly description?: string;
  readonly scopes?: string;
  readonly expiresAt?: string;
  readonly organization?: boolean;
}

export function addKeys(all: Command): void {
  const group = all.command('key').alias('keys').description('API keys');
  addWhoami(group, 'key whoami');
  addCreate(group);
  const list = group.command('list').alias('ls').description('list keys');
  examples(list, 'key list');
  reaches(list, 'GET /api/v1/api-key');
  does(list, async (context) => {
    const json = await context.api.read('/api/v1/api-key');
    if (context.out.json) context.out.text(json);
    else showKeys(context, JSON.parse(json) as ApiKey[]);
  });
  const revoke = group
    .command('revoke')
    .description('make a key useless, at once and for ever')
    .argument('<key>', 'its id, its beginning or its description')
    .option('--yes', 'do not ask');
  examples(revoke, "key revoke 'build server'");
  reaches(revoke, 'DELETE /api/v1/api-key/{id}');
  does<{ yes?: boolean }>(revoke, async (context, [id], { yes }) => {
    await confirm(context, `Whoever uses key ${id} will be refused.`, yes);
    const which = await idOf(context.api, 'key', id!);
    const { text } = await context.api.send({ method: 'DELETE', path: `/api/v1/api-key/${which}` });
    if (context.out.json) context.out.text(text);
    else context.out.line(`Revoked ${(JSON.parse(text) as ApiKey).short_key}`);
  });
  const save = group
    .command('save')
    .description('keep the address, key and workspace in use, for later commands')
    .addHelpText(
      'after',
      `
They are kept in ${profileFile(process.env)}, which only you can read.

Example:
  $ fairlead key save --url https://fairlead.example.com --key "$KEY"`,
    );
  does(save, keep);
}

/** Adds `whoami` to a group, or to the program itself. */
export function addWhoami(group: Command, example: string): void {
  const whoami = group.command('whoami').description('show the key in use');
  examples(whoami, example);
  reaches(whoami, 'GET /api/v1/api-key/current');
  does(whoami, async (context) => {
    const json = await context.api.read('/api/v1/api-key/current');
    if (context.out.json) context.out.text(json);
    else showKey(context, JSON.parse(json) as ApiKey);
  });
}

function addCreate(group: Command): void {
  const create = group
    .command('create')
    .description('make a key; it is shown once')
    .option('--description <text>', 'what it is for')
    .option('--scopes <scope,…>', 'read, write, admin, secrets:read, tokens:read (default: read,write)')
    .option('--expires-at <time>', 'when it ends', time)
    .option('--organization', 'for every workspace of the organisation');
  examples(create, "key create --description 'build server' --scopes read,write");
  reaches(create, 'POST /api/v1/api-key');
  does<CreateOptions>(create, async (context, _args, { description, scopes, expiresAt, organization }) => {
    const list = scopes?.split(',').map((scope) => scope.trim());
    if (list?.includes('')) throw new Usage('--scopes takes names separated by commas.');
    const body = JSON.stringify({ description, scopes: list, expires_at: expiresAt, organization });
    const { text } = await context.api.send({ method: 'POST', path: '/api/v1/api-key', body });
    if (context.out.json) return context.out.text(text);
    const made = JSON.parse(text) as ApiKey & { key: string };
    context.out.note(`Made key ${made.id} (${made.scopes.join(', ')}). It is shown only now:`);
    context.out.line(made.key);
  });
}

function showKey({ api, out }: Context, key: ApiKey): void {
  out.facts([
    ['address', api.connection.url],
    ['key', key.short_key],
    ['id', key.id],
    ['description', clean(key.description)],
    ['scopes', key.scopes.join(', ')],
    ['workspace', key.tenant_id ?? '-'],
    ['expires', key.expires_at === null ? 'never' : when(key.expires_at)],
  ]);
}

function showKeys({ out }: Context, keys: readonly ApiKey[]): void {
  out.table(
    [
      { title: 'KEY', whole: true },
      { title: 'DESCRIPTION', whole: true },
      { title: 'SCOPES', flexible: true },
      { title: 'CREATED', spare: true },
      { title: 'EXPIRES' },
      { title: 'ID', id: true },
    ],
    keys.map((key) => [
      out.cell('bold', key.short_key),
      clean(key.description),
      key.scopes.join(', ') + (key.organization ? ' (organisation)' : ''),
      when(key.created_at),
      key.expires_at === null ? 'never' : when(key.expires_at),
      key.id,
    ]),
  );
}
