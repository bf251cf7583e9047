import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { profileFile, readProfile, writeProfile } from '../api/profile';
import type { ApiKey } from '../api/records';
import { Usage } from '../failure';
import { askHidden } from '../output/ask';
import { examples } from '../output/help';
import { reaches } from '../table/group';

const CURRENT = '/api/v1/api-key/current';

/** `login` and `logout`: the address and the key that later commands use. */
export function addLogin(all: Command): void {
  const login = all
    .command('login')
    .description('keep an address and a key for later commands, once the service accepts the key')
    .argument('[address]', 'of the service (default: the one in use)')
    .addHelpText(
      'after',
      `
The key is the one of --key, of standard input, or what is typed at the prompt.
They are kept in ${profileFile(process.env)}, which
only you can read.`,
    );
  examples(login, 'login https://fairlead.example.com', 'login https://fairlead.example.com < key.txt');
  reaches(login, `GET ${CURRENT}`);
  does(login, async (context, [address]) => {
    const given = address === undefined ? context : context.at({ url: address });
    const key = context.given.key ?? (await typedKey(given));
    await keep(key === undefined ? given : given.at({ key }));
  });

  const logout = all.command('logout').description('forget the address and the key that login kept');
  examples(logout, 'logout');
  does(logout, ({ out }) => {
    const { url } = readProfile(process.env);
    rmSync(profileFile(process.env), { force: true });
    if (out.json) out.text(JSON.stringify({ url: url ?? null }));
    else out.line(url === undefined ? 'No key was kept.' : `Forgot the key for ${url}.`);
    return Promise.resolve();
  });
}

/** Keeps the connection of a context after the service has accepted its key. */
export async function keep({ api, out }: Context): Promise<void> {
  const { url, key, workspace } = api.connection;
  const { short_key } = await api.get<ApiKey>(CURRENT);
  const file = writeProfile(process.env, { url, key, workspace });
  if (out.json) out.text(JSON.stringify({ file, url, workspace: workspace ?? null }));
  else out.line(`Kept ${short_key} for ${url} in ${file}`);
}

/** The key from the prompt or from standard input; undefined for the one in use. */
async function typedKey(context: Context): Promise<string | undefined> {
  if (process.stdin.isTTY) {
    const { url, key: used } = context.known;
    const kept = used === undefined ? '' : ` (empty: the one in use, ${used.slice(0, 6)}…)`;
    const key = (await askHidden(`API key for ${url}${kept}: `)).trim();
    if (key === '' && used === undefined) throw new Usage('No key was given.');
    return key === '' ? undefined : key;
  }
  const key = (await text(process.stdin)).trim();
  return key === '' ? undefined : key;
}
